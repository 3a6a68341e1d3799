"""The prescan on its own; the conformance cases are in `test_charset.py`."""

import pytest

from crawler.page.prescan import charset_in_content, meta_label


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"<meta charset=utf-8>", "utf-8"),
        (b"<META/CHARSET='koi8-r'>", "koi8-r"),
        (b"<meta charset=utf-16be>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=koi8-r charset=utf-8>", "koi8-r"),
        (b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>", "koi8-r"),
        (
            b"<meta content='charset=koi8-r' content='charset=utf-8' http-equiv=content-type>",
            "koi8-r",
        ),
        (b"<meta content='charset=koi8-r'>", None),
        (b"<!-- <meta charset=utf-8> --><meta charset=koi8-r>", "koi8-r"),
        (b"<!--> <meta charset=koi8-r>", "koi8-r"),
        (b"<!-- <meta charset=utf-8>", None),
        (b"<!doctype html><?pi?></p></><meta charset=koi8-r>", "koi8-r"),
        (b"<!doctype", None),
        (b"< meta charset=utf-8>", None),
        (b"<p title='<meta charset=utf-8>'>", None),
        (b"<p title='", None),
        (b"<p", None),
        (b"<meta charset", None),
        (b"<meta charset>", None),
        (b"<meta charset >", None),
        (b"<meta =x charset=koi8-r>", "koi8-r"),
        (b"<", None),
        (b"", None),
    ],
)
def test_meta_label(head, expected):
    assert meta_label(head) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"text/html; charset=utf-8", "utf-8"),
        (b"text/html; charset = 'koi8-r'", "koi8-r"),
        (b'text/html; charset="koi8-r', None),
        (b"text/html; charset charset=koi8-r", "koi8-r"),
        (b"text/html; charset=", None),
        (b"text/html", None),
    ],
)
def test_charset_in_content(content, expected):
    assert charset_in_content(content) == expected

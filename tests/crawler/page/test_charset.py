"""Encodings: what a header declares, what a body shows, and that any body has a text."""

import base64
import codecs
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.charset import _declared_inside, declared_charset, decode, encoding_name, sniff
from crawler.page.labels import CODECS, ENCODINGS, LABELS
from crawler.page.prescan import meta_label
from tests.shared import check, need


def octets(value):
    if isinstance(value, dict):
        if "$bytes" in value:
            return value["$bytes"].encode("latin-1")
        return base64.b64decode(value["$bytes_b64"])
    return value


def codec_of(name):
    """The codec of one of the standard's encodings, by Python's name, as w3lib gives it (both read GBK as gb18030)."""
    return name and known(CODECS[name])


def known(codec):
    """One name for all the aliases of a codec; `None` stays."""
    return codec and codecs.lookup(codec).name


def w3lib(function):
    cases = json.loads(need("urls/w3lib_cases.json").read_text())["cases"]
    found = [case for case in cases if case["fn"] == f"w3lib.encoding.{function}"]
    assert found
    return found


@pytest.mark.conformance
def test_every_label_of_the_standard_is_known_by_its_encoding():
    judged = [
        (label, LABELS.get(label), encoding["name"].lower())
        for group in json.loads(need("encodings/encodings_labels.json").read_text())
        for encoding in group["encodings"]
        for label in encoding["labels"]
    ]
    check("encodings: labels of the Encoding Standard", judged, at_least=228)


def test_every_encoding_has_a_codec_that_python_knows():
    for codec in CODECS.values():
        codecs.lookup(codec)
    assert set(ENCODINGS) <= set(CODECS)


def test_labels_are_stripped_and_have_no_case():
    assert encoding_name(" \tLATIN1\n") == "windows-1252"
    assert encoding_name("latin 1") is None


@pytest.mark.conformance
def test_w3lib_header_cases():
    headers = [
        (case["args"][0].removeprefix("Content-Type:"), case["expected"])
        for case in w3lib("http_content_type_encoding")
    ]
    judged = [(value, codec_of(declared_charset(value)), known(want)) for value, want in headers]
    check("encodings: headers (w3lib)", judged)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        ("text/html;;charset=utf-8", "utf-8"),
        ("text/html; charset", None),
        ("text/html; charset=nonsense; charset=koi8-r", "koi8-r"),
        ('text/html; charset="win\\dows-1251"', None),
        ("text/html; charset=hz-gb-2312", "replacement"),
    ],
)
def test_declared_charset(header, expected):
    assert declared_charset(header) == expected


@pytest.mark.parametrize("part", [";", "; ", "; a", '; charset="', "; charset=x", " ", '\\"'])
def test_a_long_header_takes_no_time(part):
    """64 KB is what the fetcher lets through; the test's time limit is the assertion (it was minutes once)."""
    assert declared_charset("text/html" + part * (65536 // len(part))) is None


# w3lib looks further than the standard's prescan, and less far where a body has begun.
W3LIB_BODY_DIFFERENCES = {
    "< meta http-equiv": "a space after `<` makes it text (HTML 13.2.5.6)",
    "this isn't searched": "the prescan does not stop at the body",
    "Fake-Content-Type-Header": "the pragma must be content-type",
    "httpequiv": "the attribute must be http-equiv",
}


@pytest.mark.conformance
def test_w3lib_body_cases():
    judged = []
    for case in w3lib("html_body_declared_encoding"):
        body = octets(case["args"][0])
        body = body if isinstance(body, bytes) else body.encode()
        name = next((text for text in W3LIB_BODY_DIFFERENCES if text.encode() in body), body)
        found = codec_of(_declared_inside(body)), codec_of(sniff(body, None))
        judged.append((name, found, (known(case["expected"]), known(case["expected"] or "utf-8"))))
    differing = check("encodings: bodies (w3lib)", judged, W3LIB_BODY_DIFFERENCES)
    assert len(differing) == 7


# By the position of the case.
W3LIB_TEXT_DIFFERENCES = {
    27: W3LIB_BODY_DIFFERENCES["< meta http-equiv"],
    31: "the default encoding is a parameter of w3lib's, here UTF-8",
}


@pytest.mark.conformance
def test_w3lib_text_cases():
    judged = []
    for number, case in enumerate(w3lib("html_to_unicode")):
        header, body = (octets(value) for value in case["args"])
        charset = sniff(body, header and header.removeprefix("Content-Type:"))
        encoding, text = case["expected"]
        assert decode(body, charset) == text, case
        judged.append((number, codec_of(charset), known(encoding)))
    check("encodings: texts (w3lib)", judged, W3LIB_TEXT_DIFFERENCES)


W3LIB_LABELS = {"gb18030_2000": "gb18030_2000 is Python's word for an encoding, not the web's"}


@pytest.mark.conformance
def test_w3lib_decoding_cases():
    judged = []
    for case in w3lib("to_unicode"):
        body, label = (octets(value) for value in case["args"])
        name = encoding_name(label)
        judged.append((label, name and decode(body, name), case["expected"]))
    differing = check("encodings: decoding (w3lib)", judged, W3LIB_LABELS)
    assert len(judged) - len(differing) == 14
    assert {text for _, text, _ in differing} == {None}


@pytest.mark.conformance
def test_w3lib_byte_order_marks():
    judged = []
    for case in w3lib("read_bom"):
        body = octets(case["args"][0])
        body = body if isinstance(body, bytes) else body.encode()
        # A header is believed, unless there is a mark.
        found = sniff(body, "text/html; charset=koi8-r")
        judged.append((body, codec_of(found), known(case["expected"][0] or "koi8-r")))
    check("encodings: byte order marks (w3lib)", judged, at_least=6)


UNDECLARED = "declares nothing and is valid UTF-8: taken as that, not as a browser's locale has it"


@pytest.mark.conformance
def test_html5lib_prescans():
    cases = json.loads(need("html/html5lib-tests/encoding_cases.json").read_text())["cases"]
    assert len(cases) == 82
    bodies = [(case["data_latin1"].encode("latin-1"), case["encoding"].lower()) for case in cases]
    undeclared = {
        body: UNDECLARED
        for body, expected in bodies
        if expected == "windows-1252" and meta_label(body) is None
    }
    judged = [(body, sniff(body, None), expected) for body, expected in bodies]
    differing = check("encodings: prescans (html5lib)", judged, undeclared)
    assert {found for _, found, _ in differing} == {"utf-8"}


@pytest.mark.conformance
def test_encoding_sniffer_fixtures():
    folder = need("encodings/html-encoding-sniffer/test/fixtures")
    files = sorted(folder.rglob("*.html"))
    assert len(files) == 16
    judged = [
        (
            file.name,
            sniff(file.read_bytes(), None),
            "utf-8" if file.parent.name == "utf" else file.stem.split("_")[-1].lower(),
        )
        for file in files
    ]
    # It is ASCII throughout, which windows-1252 and UTF-8 read alike.
    undeclared = {"http-equiv-refresh_windows-1252.html": UNDECLARED}
    differing = check("encodings: html-encoding-sniffer", judged, undeclared)
    assert [found for _, found, _ in differing] == ["utf-8"]


@pytest.mark.parametrize(
    ("body", "header", "expected"),
    [
        (b"\xff\xfea\0", "text/html; charset=utf-8", "utf-16le"),
        (b"\xff\xfe\0\0a\0\0\0", None, "utf-32le"),
        (b"\0<\0h", "text/html; charset=utf-16", "utf-16be"),
        (b"<\0h\0", "text/html; charset=utf-16", "utf-16le"),
        (b"\0", "text/html; charset=utf-16", "utf-16le"),
        (b"<?xml version='1.0' encoding='koi8-r'?><html>", None, "koi8-r"),
        (b"<?xml version='1.0' encoding='UTF-16'?><html>", None, "utf-8"),
        (b"<?xml version='1.0' encoding='none'?><html>", None, "utf-8"),
        (b"<p>" + b" " * 2000 + b"<meta charset=koi8-r>", None, "koi8-r"),
        (b"<p>" + b" " * 2000 + b"charset", None, "utf-8"),
        ("cut inside a characté".encode()[:-1], None, "utf-8"),
        (b"\xa9", None, "windows-1252"),
        (b"", None, "utf-8"),
    ],
)
def test_sniff(body, header, expected):
    assert sniff(body, header) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Широкая электрификация южных губерний даст мощный толчок подъёму хозяйства. " * 3,
            "windows-1251",
        ),
        ("いろはにほへと ちりぬるを わかよたれそ つねならむ ひらがなの文章です。" * 3, "shift_jis"),
    ],
)
def test_undeclared_legacy_pages_are_guessed(text, expected):
    body = b"<p>" + text.encode(CODECS[expected])
    assert sniff(body, "text/html") == expected


def test_bytes_that_fit_no_encoding_well_are_windows_1252():
    assert sniff(bytes(range(128, 256)) * 20, None) in CODECS


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        (b"\x81\x93", "windows-1252", "\x81“"),
        (b"\xaa", "windows-1253", "\ufffd"),
        (b"\x80\xff", "gb18030", "€\ufffd"),
        (b"\xe2\x28", "utf-8", "\ufffd("),
        (b"anything", "replacement", "\ufffd"),
        (b"", "replacement", ""),
        (b"\xe9", "no such encoding", "é"),
        (b"\xef\xbb\xbfx", "utf-8", "x"),
    ],
)
def test_decode(body, charset, text):
    assert decode(body, charset) == text


def test_the_decoding_rule_is_for_decoding_only():
    with pytest.raises(UnicodeEncodeError):
        "ж".encode("cp1252", "raycrawl-whatwg")


@given(st.binary(max_size=300), st.one_of(st.none(), st.text(max_size=60)))
def test_every_body_has_an_encoding_and_a_text(body, header):
    charset = sniff(body, header)
    assert charset == "replacement" or charset in CODECS
    decode(body, charset).encode("utf-8")


@given(st.binary(max_size=80), st.sampled_from(sorted(CODECS)))
def test_every_encoding_decodes_everything(body, charset):
    decode(body, charset).encode("utf-8")


@given(st.text(alphabet="<!->/metaMETAcharsetcontent='\" =;utf-8http-equiv\n", max_size=200))
def test_the_prescan_ends(markup):
    found = meta_label(markup.encode())
    assert found is None or found in CODECS or found == "replacement"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("markup", ["<?xml version='1.0'?><a/>", "<title>жук</title><p>Ж", "plain"])
def test_utf_16_without_a_mark(codec, markup):
    name = codec.replace("-le", "le").replace("-be", "be")
    assert sniff(markup.encode(codec), None) == name
    assert decode(markup.encode(codec), name) == markup


def test_a_few_zeros_are_no_utf_16():
    assert sniff(b"a\0b" + b"text" * 20, None) == "utf-8"
    assert sniff(b"\0" * 50, None) == "utf-8"


def test_in_xml_its_declaration_comes_before_metas():
    body = b"<?xml version='1.0' encoding='koi8-r'?><rss><meta charset=utf-8>"
    assert sniff(body, "application/rss+xml") == sniff(body, "text/xml; x=y") == "koi8-r"
    assert sniff(body, "text/html") == "utf-8"


def test_utf_7_is_never_spoken():
    assert sniff(b"<meta charset=utf-7>+ADw-", "text/html; charset=utf-7") == "utf-8"


def test_the_upper_half_of_x_user_defined_is_for_private_use():
    assert sniff(b"a", "text/html; charset=x-user-defined") == "x-user-defined"
    assert decode(b"a\x80\xff", "x-user-defined") == "a\uf780\uf7ff"


@given(
    st.binary(max_size=100),
    st.one_of(
        st.none(),
        st.text(max_size=30),
        st.sampled_from(sorted(LABELS)).map("a/b;charset={}".format),
    ),
)
def test_whatever_is_declared_any_bytes_are_text(body, content_type):
    assert isinstance(decode(body, sniff(body, content_type)), str)


@given(st.binary(max_size=100), st.sampled_from(sorted({*CODECS, "replacement", "nobody's"})))
def test_any_bytes_are_text_in_every_encoding(body, charset):
    assert isinstance(decode(body, charset), str)

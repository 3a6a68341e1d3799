"""Seeds: what can be used is used, what cannot stops the start with one clear line."""

import pytest

from crawler.errors import InputError
from jobs.seeds import read_seeds


def test_a_file_and_arguments_are_one_set(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text(
        "\ufeff# comment\n\nhttp://b.test\n  http://a.test/x#part  \n", encoding="utf-8"
    )
    assert read_seeds(["http://b.test/"], file) == ("http://a.test/x", "http://b.test/")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "example.com",
            "argument: not an http or https URL: 'example.com'; did you mean https://example.com?",
        ),
        ("ftp://example.com/", "argument: not an http or https URL: 'ftp://example.com/'"),
        ("http://", "argument: not an http or https URL: 'http://'"),
    ],
)
def test_a_bad_seed_is_named(text, says):
    with pytest.raises(InputError) as caught:
        read_seeds([text], None)
    assert str(caught.value) == says


def test_a_bad_line_is_located(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("http://a.test/\nnonsense here\n")
    with pytest.raises(
        InputError, match=r"seeds\.txt:2: not an http or https URL: 'nonsense here'$"
    ):
        read_seeds([], file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.txt: cannot read the seeds: No such file"):
        read_seeds([], tmp_path / "none.txt")


def test_a_binary_file_is_refused(tmp_path):
    file = tmp_path / "seeds.gz"
    file.write_bytes(b"\x1f\x8b\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_seeds([], file)

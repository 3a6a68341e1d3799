"""Secrets of the configuration: checked, never repeated, masked in what is written down."""

import json
import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.config import Config
from crawler.dataset.record import CrawlRecord, begin, resume
from crawler.errors import ConfigError
from crawler.loading import load

SECRETS = ("hunter2", "letmein", "c00kie", "pr0xy")
TOML = """
[fetch]
proxy = "socks5h://me:pr0xy@proxy.example:1080"
[fetch.hosts."a.example"]
auth = "me:hunter2"
proxy = "http://me:pr0xy@proxy.example"
verify_tls = false
[fetch.hosts.".b.example"]
headers = { X-Key = "letmein" }
cookies = { session = "c00kie" }
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "crawl.toml"
    path.write_text(TOML)
    return load(path, {})


def test_nothing_that_is_written_or_printed_holds_a_secret(config):
    record = begin(["https://a.example/"], config, crawl_id="1", version="1", now=0.0)
    texts = [record.encode().decode(), repr(config), str(config), config.model_dump_json()]
    assert not any(secret in text for text in texts for secret in SECRETS)
    fetch = json.loads(texts[0])["config"]["fetch"]
    assert fetch["proxy"] == "socks5h://proxy.example:1080"
    assert fetch["hosts"]["a.example"]["auth"] == "me:**********"
    assert list(fetch["hosts"][".b.example"]["headers"]) == ["X-Key"]


def test_the_record_can_be_read_and_the_crawl_goes_on_with_other_secrets(config):
    record = begin([], config, crawl_id="1", version="1", now=0.0)
    read = CrawlRecord.decode(record.encode(), "there")
    Config.model_validate(read.config)
    other = begin([], Config(), crawl_id="2", version="1", now=1.0)
    assert resume(read, other, "there").crawl_id == "1"


def test_a_process_that_is_handed_the_configuration_has_the_secrets(config):
    again = pickle.loads(pickle.dumps(config))
    assert again == config
    assert again.fetch.hosts["a.example"].auth.get_secret_value() == "me:hunter2"


def test_configurations_that_differ_in_a_secret_differ(config, tmp_path):
    path = tmp_path / "other.toml"
    path.write_text(TOML.replace("hunter2", "hunter3"))
    assert load(path, {}) != config


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("proxy", "ftp://me:hunter2@proxy.example", "expected http://"),
        ("proxy", "hunter2", "expected http://"),
        ("proxy", "http://:hunter2@:80", "expected http://"),
        ("proxy", "http://proxy.example:99999/hunter2", "expected http://"),
        ("proxy", "http://proxy.example/hunter2", "expected http://"),
        ("proxy", "http://me:hunter2@127.1:3128", "expected http://"),
        ("proxy", "socks5://me:hunter2@2130706433", "expected http://"),
        ("proxy", "socks5://me:hunter2@[1:2]", "expected http://"),
        ("proxy", ["hunter2"], "valid string"),
        ("hosts", {"a.example": {"proxy": "hunter2"}}, "expected http://"),
        ("hosts", {"a.example": {"auth": "hunter2"}}, "user:password"),
        ("hosts", {"a.example": {"auth": ":hunter2"}}, "user:password"),
        ("hosts", {"a.example": {"auth": "me:hunter2\r\nX: y"}}, "user:password"),
        ("hosts", {"a.example": {"headers": {"X-Key": "hunter2\r\nX: y"}}}, "one line"),
        ("hosts", {"a.example": {"headers": {"X Key": "hunter2"}}}, "name of a header"),
        ("hosts", {"a.example": {"headers": {"Content-Length": "hunter2"}}}, "name of a header"),
        ("hosts", {"a.example": {"headers": {"X\r\nY": "hunter2"}}}, "name of a header"),
        ("hosts", {"a.example": {"cookies": {"a": "hunter2; b=c"}}}, "cookie's value"),
        ("hosts", {"a.example": {"cookies": {"a=b": "hunter2"}}}, "name of a cookie"),
        ("hosts", {"A.example": {"auth": "me:hunter2"}}, "lower-case hostname"),
        ("hosts", {"https://a.example": {"auth": "me:hunter2"}}, "lower-case hostname"),
        ("hosts", {".": {"auth": "me:hunter2"}}, "lower-case hostname"),
        ("hosts", {"a.example": {"auht": "me:hunter2"}}, "did you mean"),
        ("max_body", 1 << 40, "max_bytes_in_flight is less"),
    ],
)
def test_a_bad_one_is_told_in_one_line_that_does_not_repeat_it(key, value, reason):
    tree = {"fetch.proxy": "http://me:hunter2@proxy.example", f"fetch.{key}": value}
    with pytest.raises(ConfigError) as caught:
        load(None, tree)
    text = str(caught.value)
    assert reason in text
    assert "hunter2" not in text
    assert "\n" not in text
    assert "\r" not in text


URLS = st.lists(
    st.sampled_from(["http", "https", "socks5", "://", "//", ":", "@", "[", "]", "::1", "h.example", "/", "?", "#",
                     "80", "99999", "\u0661", "%", " ", "\n", "\u2100", "ü"]), max_size=8,
).map("".join)  # fmt: skip


@given(URLS | st.text(max_size=20))
@example("http://[")
@example("http://h\u2100.example")
def test_any_text_is_a_setting_or_refused_without_being_repeated(text):
    secret = f"{text}hunter2"
    shown = {"fetch.proxy": secret}  # an address, where nothing in it is a password
    host = {"auth": secret, "headers": {"X": secret}, "cookies": {"x": secret}}
    hidden = [{"fetch.hosts": {"a.example": {key: value}}} for key, value in host.items()]
    hidden.append({"fetch.proxy": f"http://me:{secret}@proxy.example"})
    for tree in (shown, *hidden):
        said = told_or_recorded(tree)
        assert tree is shown or "hunter2" not in said


def told_or_recorded(tree):
    """Why a configuration is refused, in one line, or the record of it, which can be read again."""
    try:
        config = load(None, tree)
    except ConfigError as error:
        told = str(error)
    else:
        record = begin([], config, crawl_id="1", version="1", now=0.0).encode()
        Config.model_validate(CrawlRecord.decode(record, "there").config)
        return record.decode()
    assert "hunter2" not in told
    assert "\n" not in told
    return told

"""A file and options become a configuration, or one line that says what is wrong."""

import pytest

from crawler.config import Config, ScopeMode
from crawler.errors import ConfigError
from crawler.loading import load


@pytest.fixture
def toml(tmp_path):
    def write(text):
        path = tmp_path / "crawl.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def line(path, options=None):
    """The one line that a bad configuration is refused with; a path in it becomes FILE."""
    with pytest.raises(ConfigError) as refused:
        load(path, options or {})
    text = str(refused.value)
    assert "\n" not in text
    return text.replace(str(path), "FILE")


def test_nothing_told_is_the_defaults():
    assert load(None, {}) == Config()


def test_options_lie_over_the_file(toml):
    path = toml('user_agent = "file/1"\n[politeness]\ndelay = 3\nbackoff_base = 5\n')
    config = load(path, {"politeness.delay": 0.5, "scope.mode": "host", "runtime.shards": 4})
    assert (config.user_agent, config.politeness.delay, config.politeness.backoff_base) == (
        "file/1", 0.5, 5.0,
    )  # fmt: skip
    assert (config.scope.mode, config.runtime.shards) == (ScopeMode.HOST, 4)


def test_tables_and_lists_of_a_file(toml):
    path = toml(
        '[politeness.hosts."a.example"]\ndelay = 9\n[priority]\npatterns = [["/news", 30]]\n'
        '[scope]\nexclude = ["\\\\.pdf$"]\n'
    )
    config = load(path, {})
    assert config.politeness.hosts["a.example"].delay == 9.0
    assert config.priority.patterns == (("/news", 30),)
    assert config.scope.exclude == (r"\.pdf$",)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"politeness.dealy": 1}, "unknown key 'politeness.dealy'; did you mean 'politeness.delay'?"),
        ({"polite.delay": 1}, "unknown key 'polite'; did you mean 'politeness'?"),
        ({"zzzzzz": 1}, "unknown key 'zzzzzz'; did you mean 'user_agent'?"),
        ({"politeness.hosts": {"a.example": {"pages": 1}}},
         "unknown key 'politeness.hosts.a.example.pages'; did you mean 'politeness.hosts.a.example.max_pages'?"),
        ({"politeness.delay": -1}, "politeness.delay: Input should be greater than or equal to 0 (found -1)"),
        ({"politeness.delay": "soon"}, "politeness.delay: Input should be a valid number"),
        ({"scope.max_depth": True}, "scope.max_depth: Input should be a valid integer (found True)"),
        ({"politeness.response_time_factor": float("inf")},
         "politeness.response_time_factor: Input should be a finite number (found inf)"),
        ({"scope.mode": "planet"}, "scope.mode: Input should be 'host', 'site' or 'any' (found 'planet')"),
        ({"scope.include": ["("]}, "scope.include.0: not a regular expression RE2 knows: missing ): ( (found '(')"),
        ({"scope.include": [r"(?=a)"]}, "not a regular expression RE2 knows"),
        ({"runtime.shards": 0}, "runtime.shards: Input should be greater than or equal to 1 (found 0)"),
        ({"user_agent": ""}, "user_agent: expected ASCII in one line that begins with the crawler's name"),
        ({"user_agent": "1bot"}, "user_agent: expected ASCII in one line that begins with the crawler's name"),
        ({"user_agent": "bot/1\n"}, "as mybot/1.0 (found 'bot/1\\n')"),
        ({"user_agent": "Bücherbot/1"}, "as mybot/1.0 (found 'Bücherbot/1')"),
        ({"robots.max_bytes": 1000}, "robots.max_bytes: Input should be greater than or equal to 512000"),
        ({"robots": 3}, "robots: Input should be a valid dictionary or instance of Robots (found 3)"),
        ({"priority.patterns": [["a", 300]]}, "priority.patterns.0.1: Input should be less than or equal to 255"),
        ({"user_agent": "a/1", "user_agent.name": "b"}, "user_agent: expected a table, found 'a/1'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_option(options, told):
    assert told in line(None, options)


def test_the_place_is_named(toml):
    path = toml("[politeness]\ndealy = 1\n")
    assert line(path) == ("FILE: unknown key 'politeness.dealy'; did you mean 'politeness.delay'?")
    assert line(None, {"politeness.dealy": 1}).startswith("options: ")


def test_files_that_are_no_configuration(toml, tmp_path):
    assert line(toml("delay 3\n")).startswith("FILE: not TOML: ")
    assert line(toml(b'user_agent = "\xff"\n')).startswith("FILE: not TOML: ")
    missing = tmp_path / "missing.toml"
    assert line(missing) == "FILE: cannot read the configuration: No such file or directory"
    assert line(tmp_path) == "FILE: cannot read the configuration: Is a directory"


def test_a_key_below_a_value_that_is_no_table(toml):
    assert line(toml("scope = 3\n"), {"scope.mode": "any"}) == "scope: expected a table, found 3"


@pytest.mark.parametrize("text", ['fetch = "http://me:secret@proxy:1"', '[fetch]\nhosts = "me:secret"',
                                  '[fetch.hosts]\n"example.com" = "me:secret"'])  # fmt: skip
def test_a_secret_in_the_place_of_a_table_is_not_repeated(toml, text):
    assert "secret" not in line(toml(text))
    if text.startswith("fetch"):
        assert line(toml(text), {"fetch.allow_private": True}) == "fetch: expected a table"


def test_a_byte_order_mark_is_no_part_of_the_file(toml):
    assert load(toml("\ufeffuser_agent = 'bot/1'\n"), {}).user_agent == "bot/1"

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.config import Url
from crawler.url.normal import dot_segments, normaliser, steps
from crawler.url.parts import split
from crawler.url.wire import wire

normal = normaliser(Url())
everything = normaliser(Url(strip_trailing_slash=True))


def test_the_steps_are_named_and_in_order():
    assert [step.__name__ for step in steps(Url(strip_trailing_slash=True))] == [
        "case",
        "root_dot",
        "percent_encoding",
        "tracking_parameters",
        "session_ids",
        "dot_segments",
        "default_port",
        "empty_path",
        "fragment",
        "query_order",
        "trailing_slash",
    ]
    chosen = [step.__name__ for step in steps(Url(sort_query=False))]
    assert "query_order" not in chosen
    assert "trailing_slash" not in chosen


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        # case: scheme and host only
        ("HTTP://EXAMPLE.org/A?B", "http://example.org/A?B"),
        # root_dot
        ("http://example.org./", "http://example.org/"),
        ("http://./", "http://./"),
        ("http://../", "http://../"),
        ("http://1.2.3.4../", "http://1.2.3.4../"),
        # percent_encoding
        ("http://a/%7euser/%41%2d%2E", "http://a/~user/A-."),
        ("http://a/%2f%3a%c3%bc", "http://a/%2F%3A%C3%BC"),
        ("http://a/?a=%2b+%26%3d%25&b", "http://a/?a=%2B+%26%3D%25&b"),
        ("http://a/100%?100%&%zz", "http://a/100%25?%25zz&100%25"),
        ("http://a/%%34%31", "http://a/%2541"),
        ("http://a/%2541", "http://a/%2541"),
        ("http://a/{x}?a[]=|^`\\", "http://a/%7Bx%7D?a%5B%5D=%7C%5E%60%5C"),
        # tracking_parameters
        ("http://a/?utm_source=x&a=1&UTM_Medium=y", "http://a/?a=1"),
        ("http://a/?%75tm_source=x", "http://a/"),
        ("http://a/?gclid", "http://a/"),
        ("http://a/?xgclid=1&gclidx=2", "http://a/?gclidx=2&xgclid=1"),
        ("http://a/?x=utm_source", "http://a/?x=utm_source"),
        ("http://a/b;jsessionid=1;v=2/c;JSESSIONID=3", "http://a/b;v=2/c"),
        ("http://a/b;jsession=1/;jsessionid", "http://a/b;jsession=1/"),
        ("http://a/b/..;jsessionid=1/c", "http://a/c"),
        ("http://a/b;;c;", "http://a/b;;c;"),
        ("http://a/?&&b=1&", "http://a/?b=1"),
        # dot_segments
        ("http://a/b/./../../c/..", "http://a/"),
        ("http://a/b/.", "http://a/b/"),
        ("http://a/b/%2e%2E/c", "http://a/c"),
        ("http://a/.well-known/..b/c...", "http://a/.well-known/..b/c..."),
        # default_port
        ("http://a:80/", "http://a/"),
        ("https://a:443/", "https://a/"),
        ("http://a:443/", "http://a:443/"),
        ("other://a:443/", "other://a:443/"),
        # empty_path, fragment, an empty query
        ("http://a", "http://a/"),
        ("http://a/#b", "http://a/"),
        ("http://a/?", "http://a/"),
        # query_order: by name, the order of equal names is kept
        ("http://a/?b=1&a=2&b=0&a=1", "http://a/?a=2&a=1&b=1&b=0"),
        ("http://a/?b&a", "http://a/?a&b"),
        ("http://a/?a=1&A=2", "http://a/?A=2&a=1"),
        # what is left alone
        ("http://u:P@a//b//?c=", "http://u:P@a//b//?c="),
        ("no URL at all", "no URL at all"),
    ],
)
def test_normal_form(url, expected):
    assert normal(url) == expected


def test_the_choices():
    assert everything("http://a/b//") == "http://a/b"
    assert everything("http://a//") == "http://a/"
    assert everything("http://a/") == "http://a/"
    assert normaliser(Url(sort_query=False))("http://a/?b&a") == "http://a/?b&a"
    bare = normaliser(Url(tracking_parameters=()))
    assert bare("http://a/?utm_source=x") == "http://a/?utm_source=x"
    only = normaliser(Url(tracking_parameters=("a.b", "*Id", "x*y")))
    assert only("http://h/?a.b=1&axb=2&SID=3&xy=4&x1y=5&xyz=6") == "http://h/?axb=2&xyz=6"


def test_a_step_with_nothing_to_do_returns_what_it_got():
    parts = split("https://example.org/a.b/c?d=e&f")
    assert all(step(parts) is parts for step in steps(Url(strip_trailing_slash=True)))
    hidden = split("https://example.org/.well-known/")
    assert dot_segments(hidden) is hidden


TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"http://a/x?sid={TOKEN}&page=2", "http://a/x?page=2"),
        (f"http://a/x?SID={TOKEN.upper()}", "http://a/x"),
        ("http://a/x?s=9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c&t=5", "http://a/x?t=5"),
        (f"http://a/x;sid={TOKEN}/y", "http://a/x/y"),
        ("http://a/(S(lit3py55t21z5v55vlm25s55))/page.aspx", "http://a/page.aspx"),
        (f"http://a/(S(x));sid={TOKEN}/y", "http://a/y"),
        ("http://a/app/(A(x-1)S(lit3py55t21z5v55vlm25s55)F(_))/", "http://a/app/"),
        ("http://a/(S(lit3py55t21z5v55vlm25s55))", "http://a/"),
        ("http://a/x?cfid=1&cftoken=2&zenid=3&osCsid=4&sessid=5", "http://a/x"),
        (f"http://a/x?session_id={TOKEN}&a=1&sessionId={TOKEN}", "http://a/x?a=1"),
    ],
)
def test_session_ids_count_for_nothing(url, expected):
    assert normal(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://a/x?sid=5",
        "http://a/connect/sessionDetail.ww?SESSION_ID=1765",
        "http://a/agenda?sessionId=12",
        "http://a/x?s=search+words",
        "http://a/x?s=iphone15promaxreview",
        f"http://a/x?id={TOKEN}",
        f"http://a/{TOKEN}/",
        "http://a/Mercury_(planet)/x",
        "http://a/(S)/x",
        "http://a/x(S(abc))/y",
    ],
)
def test_what_may_name_a_page_stays(url):
    assert normal(url) == url


# Everything that a step looks for, in any order: the hardest inputs for idempotence.
PIECES = "/ // . .. ? & = ; % %2 %2e %2F %25 %34 31 a B + ~ [ ] | :80 @ #"
pieces = st.sampled_from(
    [*PIECES.split(), "utm_source", "jsessionid", "gclid", "sid=", TOKEN, f"/(S({TOKEN}))"]
)
tails = st.lists(pieces, max_size=14).map("".join)


@given(st.one_of(tails, st.text()))
@example("%%34%31")
@example("..;jsessionid=1/..;gclid/")
@example("?&utm_source&=&")
def test_normal_is_idempotent(tail):
    for text in (f"http://a/{tail}", f"http://a{tail}", tail):
        assert normal(normal(text)) == normal(text)
        assert everything(everything(text)) == everything(text)


@given(tails)
def test_the_normal_form_of_a_wire_url_is_a_wire_url(tail):
    url = wire(f"http://a/{tail}")
    # WHATWG would write `'` in a query as %27; no step writes that character.
    assert wire(normal(url)) == normal(url)


names = st.text("abcXYZ019-_~", min_size=1, max_size=4)
parameters = st.lists(st.tuples(names, names), max_size=4)


def spelled(data, text):
    """The same text with some of its letters escaped, in either case of hexadecimal."""
    forms = [data.draw(st.sampled_from([c, f"%{ord(c):02x}", f"%{ord(c):02X}"])) for c in text]
    return "".join(forms)


@given(st.data(), st.lists(names, min_size=1, max_size=3), parameters)
def test_spellings_of_one_url_have_one_normal_form(data, segments, pairs):
    path = "/".join(segments)
    query = "&".join(f"{name}={value}" for name, value in pairs)
    # Shuffled only among different names: equal names keep their order.
    by_name = {}
    for name, value in pairs:
        by_name.setdefault(name, []).append(f"{spelled(data, name)}={spelled(data, value)}")
    respelled = "/".join(spelled(data, segment) for segment in segments)
    groups = data.draw(st.permutations(list(by_name.values())))
    shuffled = "&".join(parameter for group in groups for parameter in group)
    noise = data.draw(st.sampled_from(["", "&", "&utm_source=x", "&GCLID=1&"]))
    other = f"HTTP://A.Example:80/x/../{respelled}?{shuffled}{noise}#f"
    assert normal(wire(other)) == normal(wire(f"http://a.example/{path}?{query}"))


@pytest.mark.parametrize("reserved", "!#$&'()*+,/:;=?@")
def test_a_reserved_character_and_its_escape_are_not_the_same(reserved):
    escape = f"%{ord(reserved):02X}"
    assert normal(f"http://a/b{reserved}c") != normal(f"http://a/b{escape}c")
    assert normal(f"http://a/?b{reserved}c") != normal(f"http://a/?b{escape}c")

import contextlib
import gzip
import os
import re
import signal
import socket
import time
from collections import Counter
from http.client import HTTPConnection

import pytest

from benchmarks.simweb.hosts import Manner, Role
from benchmarks.simweb.judge import differences, disobeyed
from benchmarks.simweb.log import violations
from benchmarks.simweb.options import Options
from benchmarks.simweb.rules import RobotsAnswer
from benchmarks.simweb.running import running
from benchmarks.simweb.truth import truth
from tests.benchmarks.simweb_naive import Naive

OPTIONS = Options(
    hosts=25, pages=250, links=10, page_bytes=1500, traps="shape", slow=0.1, gzip=True
)


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with running(OPTIONS, log=tmp_path_factory.mktemp("log") / "log.tsv") as served:
        yield served


def host_with(web, manner=Manner.PLAIN, answer=None):
    return next(
        host
        for host in web.world.hosts
        if host.manner is manner and answer in (None, host.robots.answer)
    )


def page_with(web, **wanted):
    return next(
        page
        for host in web.world.hosts
        if host.manner is Manner.PLAIN
        for page in host.pages
        if all(getattr(page, name) == value for name, value in wanted.items())
    )


@contextlib.contextmanager
def connected(web, host, timeout=5.0):
    connection = HTTPConnection(host.address, web.port, timeout=timeout)
    try:
        yield connection
    finally:
        connection.close()


def ask(web, host, target, **headers):
    with connected(web, host) as connection:
        connection.request(
            "GET", target, headers={"Host": f"{host.name}:{web.port}", "User-Agent": "t", **headers}
        )
        response = connection.getresponse()
        return response.status, response.headers, response.read()


def ask_page(web, **wanted):
    page = page_with(web, **wanted)
    return page, *ask(web, web.world.hosts[page.host], page.target)


@pytest.mark.slow
def test_server_and_truth_agree_by_the_eyes_of_a_naive_crawler():
    """All of a troubled world, fetched and read with nothing but the standard library."""
    with running(OPTIONS) as fresh:
        refuses = shape_rules(fresh.world)
        rows = Naive(fresh.overrides, fresh.world.identity).crawl(fresh.seeds, refuses)
        expected = truth(fresh.world)
        assert set(Counter(rows.values())) == {
            "fetched", "redirect", "http_error", "robots_denied", "robots_unreachable", "connect_error",
            "excluded_type",
        }  # fmt: skip
        # One request at a time, by one client: the log says so.
        log = fresh.log()
        assert violations(log) == []
        assert disobeyed(fresh.world, log) == []
        assert differences(fresh.world, expected, rows.items()) == []


def shape_rules(world):
    def refuses(url):
        segments = url.split("/", 3)[3].partition("?")[0].split("/")
        return len(url) > 2048 or len(segments) > 32 or max(Counter(segments).values()) > 3

    return refuses


def test_hosts_answer_for_robots_as_promised(web):
    expected = {
        RobotsAnswer.RULES: 200, RobotsAnswer.EMPTY: 200, RobotsAnswer.MISSING: 404, RobotsAnswer.FORBIDDEN: 403,
        RobotsAnswer.REDIRECTING: 301, RobotsAnswer.FAILING: 500,
    }  # fmt: skip
    for answer, status in expected.items():
        host = host_with(web, answer=answer)
        assert ask(web, host, "/robots.txt")[0] == status, answer
    status, headers, body = ask(
        web, host_with(web, answer=RobotsAnswer.REDIRECTING), "/robots-rules.txt"
    )
    assert (status, headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert b"User-agent: *" in body
    assert ask(web, host_with(web, answer=RobotsAnswer.MISSING), "/robots-rules.txt")[0] == 404
    recovering = host_with(web, answer=RobotsAnswer.RECOVERING)
    assert [ask(web, recovering, "/robots.txt")[0] for _ in range(3)] == [500, 200, 200]


def test_pages_answer_as_promised(web):
    for status in (301, 302, 303, 307, 308, 404, 410, 500):
        page, got, headers, _ = ask_page(web, status=status)
        assert got == status
        assert ("Location" in headers) == (page.role is Role.REDIRECT)
    _, status, headers, body = ask_page(web, role=Role.FILE)
    assert (status, headers["Content-Type"].partition("/")[0] in ("image", "application")) == (
        200,
        True,
    )
    assert len(body) == int(headers["Content-Length"])
    _, status, headers, _ = ask_page(web, role=Role.TEXT)
    assert (status, headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    _, _, headers, body = ask_page(web, charset="windows-1252", role=Role.CONTENT)
    assert headers["Content-Type"] == "text/html; charset=windows-1252"
    assert "señor" in body.decode("cp1252")
    _, _, headers, body = ask_page(web, charset="meta", role=Role.CONTENT)
    assert headers["Content-Type"] == "text/html"
    assert b'<meta charset="utf-8">' in body
    _, _, headers, _ = ask_page(web, nofollow="header")
    assert headers["X-Robots-Tag"] == "nofollow"


def test_a_burst_asks_for_patience_once(web):
    page = page_with(web, role=Role.BURST, status=429)
    host = web.world.hosts[page.host]
    status, headers, _ = ask(web, host, page.target)
    assert (status, headers["Retry-After"]) == (429, "1")
    assert ask(web, host, page.target)[0] == 200


def test_a_tracking_parameter_is_redirected_away(web):
    page = page_with(web, role=Role.CONTENT, number=4, area="open")
    host = web.world.hosts[page.host]
    status, headers, _ = ask(web, host, f"{page.target}?utm_source=r")
    assert (status, headers["Location"]) == (302, page.target)
    assert ask(web, host, f"{page.target}?utm_source=a")[2] == ask(web, host, page.target)[2]


def test_an_overloaded_host_always_says_later(web):
    host = host_with(web, Manner.OVERLOADED)
    assert ask(web, host, "/robots.txt")[0] == 404
    assert [ask(web, host, "/")[0] for _ in range(3)] == [503] * 3
    assert ask(web, host, "/")[1]["Retry-After"] == "1"


def test_a_dead_host_refuses(web):
    with pytest.raises(ConnectionRefusedError):
        ask(web, host_with(web, Manner.DEAD), "/")


def test_a_silent_host_accepts_and_is_logged_without_a_status(web):
    host = host_with(web, Manner.SILENT)
    with connected(web, host, timeout=0.3) as connection:
        connection.request("GET", "/robots.txt", headers={"Host": f"{host.name}:{web.port}"})
        with pytest.raises(TimeoutError):
            connection.getresponse()
    # The server notices the close before it serves a request that was sent later.
    (request,) = [request for request in web.log() if request.host == host.name]
    assert (request.status, request.target) == (0, "/robots.txt")
    assert request.end - request.start >= 0.15


def test_who_gives_up_while_the_server_sleeps_was_not_there_until_it_woke(web):
    host = host_with(web, Manner.SILENT)
    with connected(web, host) as connection:
        connection.request("GET", "/asleep", headers={"Host": f"{host.name}:{web.port}"})
        ask(web, web.world.hosts[0], "/")  # by its answer the request has arrived too
        os.kill(web.pid, signal.SIGSTOP)
        try:
            connection.close()
            closed = time.time()
        finally:
            os.kill(web.pid, signal.SIGCONT)
    (request,) = [request for request in web.log() if request.target == "/asleep"]
    assert request.status == 0
    assert request.start <= request.end <= closed


def test_a_slow_host_takes_its_time_and_a_broken_wait_is_logged(web):
    host = host_with(web, Manner.SLOW)
    ask(web, host, "/robots.txt")
    with connected(web, host) as connection:
        connection.connect()
        connection.sock.settimeout(0.02)
        connection.request("GET", "/gone-before", headers={"Host": f"{host.name}:{web.port}"})
        with pytest.raises(TimeoutError):
            connection.getresponse()
    first, second = [request for request in web.log() if request.host == host.name]
    assert first.end - first.start >= OPTIONS.slow
    assert (second.target, second.status) == ("/gone-before", 0)


def test_gzip_only_where_it_is_accepted(web):
    plain_headers, plain = ask(web, web.world.hosts[0], "/")[1:]
    headers, packed = ask(web, web.world.hosts[0], "/", **{"Accept-Encoding": "br, gzip"})[1:]
    assert "Content-Encoding" not in plain_headers
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed) == plain


def test_a_page_that_is_known_by_its_tag_is_not_sent_again(web):
    status, headers, body = ask(web, web.world.hosts[0], "/")
    assert (status, len(body) > 0) == (200, True)
    status, again, body = ask(web, web.world.hosts[0], "/", **{"If-None-Match": headers["ETag"]})
    assert (status, again["ETag"], body) == (304, headers["ETag"], b"")
    assert ask(web, web.world.hosts[0], "/", **{"If-None-Match": '"other"'})[0] == 200
    assert ask(web, web.world.hosts[0], "/nowhere", **{"If-None-Match": '""'})[0] == 404


def test_one_connection_serves_many_requests_in_pieces_or_early(web):
    host = web.world.hosts[0]
    head = f"Host: {host.name}:{web.port}\r\n\r\n".encode()
    with socket.create_connection((host.address, web.port), timeout=5) as connection:
        connection.sendall(b"GET /nothing HTT")
        connection.sendall(b"P/1.1\r\n" + head[:-2])
        connection.sendall(b"\r\nPOST / HTTP/1.1\r\n" + head + b"GET /nothing HTTP/1.1\r\n" + head)
        received = b""
        while received.count(b"nothing here\n") < 2:
            received += connection.recv(65536)
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"404", b"405", b"404"]


def test_early_requests_wait_for_a_slow_answer(web):
    host = host_with(web, Manner.SLOW)
    request = f"GET /early HTTP/1.1\r\nHost: {host.name}:{web.port}\r\n\r\n".encode()
    with socket.create_connection((host.address, web.port), timeout=5) as connection:
        connection.sendall(request)
        connection.sendall(request)
        received = b""
        while received.count(b"nothing here\n") < 2:
            received += connection.recv(65536)
    first, second = [request for request in web.log() if request.target == "/early"]
    assert second.start >= first.end


def flood(connection):
    for _ in range(2000):
        connection.sendall(b"x" * 10_000)


def test_an_endless_header_and_a_strange_host_are_turned_away(web):
    host = web.world.hosts[0]
    with (
        socket.create_connection((host.address, web.port), timeout=5) as connection,
        pytest.raises(ConnectionError),
    ):
        flood(connection)
    with connected(web, host) as connection:
        connection.request("GET", "/__log")
        assert connection.getresponse().status == 421


def test_wild_names_are_served(tmp_path):
    with running(Options(hosts=5, pages=20, traps="all", troubles=False, wild_names=5)) as served:
        host = next(host for host in served.world.hosts if host.wild)
        wild = {"Host": f"w1.wild.{host.site}:{served.port}"}
        status, _, body = ask(served, host, "/", **wild)
        assert status == 200
        assert f"http://w3.wild.{host.site}:{served.port}/".encode() in body
        assert ask(served, host, "/else", **wild)[0] == 404
        assert ask(served, host, "/robots.txt", **wild)[0] == 404

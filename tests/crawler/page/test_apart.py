"""Pages read in another process: the same facts, and whatever that process does costs one page.

`tests/poison` makes some pages of HTML deadly for it.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from crawler.config import Page as Limits
from crawler.errors import ApartError
from crawler.page import apart
from crawler.page.apart import Apart, ReaderError
from crawler.page.page import read_page
from tests.shared import figure

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
POISON = ROOT / "tests" / "poison"
URL = "http://h.test/a/"
HEALTHY = b"""<!doctype html><html lang=en><meta charset=koi8-r><title>t</title><base href=/b/>
<meta name=robots content=noarchive><link rel=canonical href=/c><link rel=alternate hreflang=de href=/de>
<p>a <a href='?q=\xd6' rel='nofollow ugc'>b</a><a href=mailto:x>c</a><iframe src=/d></iframe>&#xD800;"""


@pytest.fixture
def elsewhere(monkeypatch):
    """Makes readers, poisoned ones, with bounds in seconds and MiB; closes them."""
    monkeypatch.syspath_prepend(str(POISON))
    made = []

    def make(seconds=20.0, mib=256, alive=lambda: None):
        limits = Limits(apart_seconds=seconds, apart_memory=mib * 1024 * 1024)
        made.append(Apart(limits, time.monotonic, alive))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def reader(elsewhere):
    return elsewhere()


def poisoned(name):
    return b"<!--poison %s--><p>words" % name.encode()


def read(reader, body, media="text/html"):
    return reader.read_page(body, media, URL, 10)


def healthy(reader):
    return read(reader, HEALTHY) == read_page(HEALTHY, "text/html", URL, 10)


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (HEALTHY, "text/html"),
        (HEALTHY, None),
        (b"words", "text/plain"),
        (b"\0", "image/png"),
        (b"", ""),
    ],
)
def test_the_facts_are_the_same(reader, body, media):
    assert read(reader, body, media) == read_page(body, media, URL, 10)
    assert read(reader, body, media) == read_page(body, media, URL, 10)


def test_nothing_runs_before_the_first_page_and_after_the_end(reader):
    assert (reader.pid, repr(reader)) == (None, "<Apart no process>")
    assert healthy(reader)
    process = psutil.Process(reader.pid)
    assert repr(reader) == f"<Apart {process.pid}>"
    reader.close()
    assert not process.is_running()
    assert healthy(reader)


@pytest.mark.parametrize(
    ("poison", "reason"),
    [
        ("abort", f"its reader crashed (signal {signal.SIGABRT:d})"),
        ("segfault", f"its reader crashed (signal {signal.SIGSEGV:d})"),
        ("exit", "its reader crashed (exit code 3)"),
        ("leave", "its reader crashed (exit code 4)"),
        ("hang", "its reader took more than 3 s"),
        ("hang_in_c", "its reader took more than 3 s"),
        ("half", "its reader took more than 3 s"),
        ("swell", "its reader needed more than 256 MiB"),
        ("garbage", "its reader's answer cannot be understood"),
        ("code", "its reader's answer cannot be understood"),
        ("endless", "its reader's answer is larger than 256 MiB"),
        ("files", "OSError: [Errno 24] Too many open files: '/dev/null'"),
        ("disk", "OSError: [Errno 27] File too large"),
    ],
)
def test_a_deadly_page_has_its_reason_and_harms_no_other(elsewhere, poison, reason):
    reader = elsewhere(seconds=3.0 if "took" in reason else 20.0)
    assert healthy(reader)
    with pytest.raises(ReaderError) as raised:
        read(reader, poisoned(poison))
    assert str(raised.value) == reason
    assert healthy(reader)


def test_what_a_reader_prints_goes_nowhere(reader, capfd):
    assert read(reader, poisoned("print")).text == "words"
    assert capfd.readouterr() == ("", "")


def test_a_process_that_has_grown_reads_no_further_page(reader):
    """Three pages that each leave 120 MB behind are within the bound of 256 MiB, as every one alone is."""
    pids = set()
    for _ in range(3):
        assert read(reader, poisoned("leak")).text == "words"
        pids.add(reader.pid)
    assert len(pids) == 3


def test_a_page_does_not_pay_for_the_one_before(reader, monkeypatch):
    """The process dies of what a page left behind, when it has the next one: that one is read again."""
    assert healthy(reader)
    process = psutil.Process(reader.pid)
    send = Apart._send

    def kills(self, message):
        if process.is_running():
            process.kill()
        send(self, message)

    monkeypatch.setattr(Apart, "_send", kills)
    assert healthy(reader)
    assert reader.pid != process.pid


def test_a_process_that_was_ended_between_two_pages_is_replaced(reader):
    assert healthy(reader)
    psutil.Process(reader.pid).kill()
    assert healthy(reader)


def test_a_process_without_pages_ends(reader, monkeypatch):
    idle = "from crawler.page import child; child.IDLE_SECONDS = 0.1; child.main()"
    monkeypatch.setattr(apart, "_PROGRAM", idle)
    assert healthy(reader)
    assert reader._process.wait(20) == 0
    assert healthy(reader)


def test_ctrl_c_is_not_for_it(reader):
    assert healthy(reader)
    pid = reader.pid
    os.kill(pid, signal.SIGINT)
    assert healthy(reader)
    assert reader.pid == pid


def test_every_step_says_that_it_is_alive(elsewhere):
    steps = []
    reader = elsewhere(alive=lambda: steps.append(reader.pid))
    assert healthy(reader)
    assert healthy(reader)
    assert steps == [None, reader.pid, reader.pid]


def test_what_cannot_start_is_no_fault_of_a_page(elsewhere, monkeypatch):
    monkeypatch.setattr(apart, "_PROGRAM", "raise SystemExit(7)")
    with pytest.raises(ApartError, match=r"does not start \(exit code 7\)"):
        healthy(elsewhere())
    monkeypatch.setattr(apart, "_PROGRAM", "import time; time.sleep(100)")
    monkeypatch.setattr(apart, "START_SECONDS", 0.2)
    with pytest.raises(ApartError, match=r"no answer within 0\.2 s"):
        healthy(elsewhere())


@contextmanager
def no_more_files():
    """No file, socket or process can be had: the next free descriptor is over the limit."""
    with Path(os.devnull).open("rb") as next_free:
        limit = next_free.fileno()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_the_machine_has_run_out_of_is_no_fault_of_a_page(reader):
    with (
        no_more_files(),
        pytest.raises(ApartError, match=r"does not start \(Too many open files\)"),
    ):
        healthy(reader)
    assert healthy(reader)


def test_a_start_that_fails_keeps_no_file_open(reader, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    files = Path("/proc/self/fd")
    before = len(list(files.iterdir()))
    with pytest.raises(ApartError, match=r"does not start \(No such file or directory\)"):
        healthy(reader)
    assert len(list(files.iterdir())) == before


def test_it_ends_with_its_parent_though_it_hangs():
    script = f"""
import sys, time, threading
sys.path.insert(0, {str(POISON)!r})
from crawler.config import Page
from crawler.page.apart import Apart
reader = Apart(Page(), time.monotonic)
reader.read_page(b"x", "text/html", "http://h.test/", 10)
print(reader.pid, flush=True)
reader.read_page({poisoned("hang_in_c")!r}, "text/html", "http://h.test/", 10)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    with parent:
        process = psutil.Process(int(parent.stdout.readline()))
        while process.cpu_times().user < 1.0 and parent.poll() is None:  # until it hangs
            process.cpu_percent(0.05)
        parent.kill()
    assert psutil.wait_procs([process], timeout=10)[0] == [process]


def test_what_it_costs(elsewhere):
    reader = elsewhere()
    begin = time.perf_counter()
    assert healthy(reader)
    started = time.perf_counter() - begin
    begin = time.perf_counter()
    for _ in range(100):
        read(reader, HEALTHY)
    a_page = (time.perf_counter() - begin) / 100
    rss = psutil.Process(reader.pid).memory_info().rss
    figure(
        "parser",
        "a page read apart",
        start_ms=round(1000 * started),
        page_ms=round(1000 * a_page, 2),
        idle_mib=rss >> 20,
    )
    assert started < 10
    assert a_page < 0.1
    assert rss < 100 * 1024 * 1024

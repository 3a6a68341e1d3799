"""URL spaces that never end, as pure functions from one target to the next ones.

A trap never links out of itself, so a truth may leave it out as a whole.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple


class Trap(NamedTuple):
    """`entry`: the target that the host's home page links to. `step`: what a page of the trap links to.

    `endless`: no rule on the form of a URL ends it (repeated segments, many segments, a long URL); a budget must.
    """

    entry: str
    endless: bool
    step: Callable[[str], list[str]]


def _token(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _deeper(target: str) -> list[str]:
    head, _, last = target.rpartition("/")
    return [f"{head}/{last}/{int(last) + 1}"]


def _month(target: str) -> list[str]:
    _, _, year, month = target.split("/")
    ahead, behind = int(year) * 12 + int(month), int(year) * 12 + int(month) - 2
    return [f"/trap-calendar/{months // 12}/{months % 12 + 1:02}" for months in (ahead, behind)]


def _session(target: str) -> list[str]:
    return [f"/trap-session/{_token(target + turn)}/page-{turn}" for turn in "12"]


def _sid(target: str) -> list[str]:
    return [f"/trap-sid?page={turn}&sid={_token(target + turn)}" for turn in "12"]


def _facets(target: str) -> list[str]:
    number = int(target.rpartition("=")[2])
    return [
        f"/trap-facets?colour=c{n % 7}&fit=f{n % 3}&page={n}" for n in (2 * number, 2 * number + 1)
    ]


TRAPS = {
    "loop": Trap("/trap-loop/loop/a", endless=False, step=lambda target: [f"{target}/loop/a"]),
    "repeat": Trap("/trap-repeat/x", endless=False, step=lambda target: [f"{target}/x"]),
    "deep": Trap("/trap-deep/1", endless=False, step=_deeper),
    "long": Trap(
        "/trap-long/" + "x" * 100, endless=False, step=lambda target: [target + "x" * 150]
    ),
    "session": Trap("/trap-session/start/page-1", endless=True, step=_session),
    "sid": Trap("/trap-sid?page=1&sid=0", endless=True, step=_sid),
    "calendar": Trap("/trap-calendar/2026/11", endless=True, step=_month),
    "facets": Trap("/trap-facets?page=1", endless=True, step=_facets),
}


def trap_of(target: str) -> Trap | None:
    """The trap that a target belongs to; `None` outside all of them."""
    if not target.startswith("/trap-"):
        return None
    return TRAPS.get(target[len("/trap-") :].partition("/")[0].partition("?")[0])

"""Verdicts on a crawl of a world: its rows against the truth, its requests against robots.txt."""

from collections.abc import Callable, Iterable, Mapping

from benchmarks.simweb.hosts import AGENT, Host
from benchmarks.simweb.log import Request
from benchmarks.simweb.rules import RobotsAnswer
from benchmarks.simweb.world import World


def differences(
    world: World, expected: Mapping[str, frozenset[str]], rows: Iterable[tuple[str, str]]
) -> list[str]:
    """One line for each URL whose rows (url, kind) are not what a truth expects; none for a right crawl.

    Rows of endless traps are passed over. A URL in several rows is a difference: a crawl visits each once.
    """
    kinds: dict[str, list[str]] = {}
    for url, kind in rows:
        kinds.setdefault(world.identity(url), []).append(kind)
    lines = [
        f"missing: {url} ({' or '.join(sorted(expected[url]))})"
        for url in expected.keys() - kinds.keys()
    ]
    for url, found in kinds.items():
        if world.is_endless(url):
            continue
        if len(found) > 1:
            lines.append(f"{len(found)} rows: {url} ({', '.join(found)})")
        if url not in expected:
            lines.append(f"unexpected: {url} ({found[0]})")
        elif found[0] not in expected[url]:
            lines.append(
                f"wrong kind: {url} ({found[0]}, not {' or '.join(sorted(expected[url]))})"
            )
    return sorted(lines)


def disobeyed(world: World, log: Iterable[Request], agent: str = AGENT) -> list[str]:
    """One line for each request that robots.txt forbade, or that came before the host's robots.txt was known."""
    lines = []
    known: set[str] = set()
    for request in sorted(log):
        found = world.host_named(request.host)
        if found is None:
            continue
        host, wild = found
        if request.target.startswith("/robots"):
            # A redirect is not yet an answer, and a failure forbids everything.
            if request.status in (200, 403, 404):
                known.add(request.host)
        elif request.host not in known:
            lines.append(f"before robots.txt: {request.host}{request.target}")
        elif wild is None and _forbidden(world, host, request.target, agent):
            lines.append(f"against robots.txt: {request.host}{request.target}")
    return lines


def patience(world: World, delay: float, agent: str = AGENT) -> Callable[[Request], float]:
    """How long a host must be left alone after a request, for `log.violations`: seconds.

    The greatest of `delay`, the crawl-delay of the host's robots.txt, and Retry-After where the answer asked for it.
    """
    groups = {host.name: host.robots.group(agent) for host in world.hosts}
    delays = {name: max(delay, group.delay) for name, group in groups.items() if group}

    def wait(before: Request) -> float:
        asked = world.options.retry_after if before.status in (429, 503) else 0.0
        return max(delays.get(before.host, delay), asked)

    return wait


def _forbidden(world: World, host: Host, target: str, agent: str) -> bool:
    page = world.page(host, target)
    return host.robots.answer is RobotsAnswer.FAILING or (
        page is not None and host.robots.denies(page.area, agent)
    )

"""The hosts of a world out of its options: their sizes, names, addresses, troubles, rules and traps. Pure."""

from collections.abc import Iterator
from itertools import cycle
from random import Random

from benchmarks.simweb.filling import Filling
from benchmarks.simweb.hosts import AGENT, Host, Manner
from benchmarks.simweb.options import Options
from benchmarks.simweb.rules import Group, Robots, RobotsAnswer
from benchmarks.simweb.traps import TRAPS
from benchmarks.simweb.words import Prose

# Hosts of a troubled world that differ from the rest; each kind occurs as often as the others.
SPECIALS = (
    (Manner.DEAD, RobotsAnswer.MISSING),
    (Manner.SILENT, RobotsAnswer.MISSING),
    (Manner.PLAIN, RobotsAnswer.FAILING),
    (Manner.PLAIN, RobotsAnswer.RECOVERING),
    (Manner.PLAIN, RobotsAnswer.FORBIDDEN),
    (Manner.PLAIN, RobotsAnswer.REDIRECTING),
    (Manner.OVERLOADED, RobotsAnswer.MISSING),
    (Manner.SLOW, RobotsAnswer.RULES),
    (Manner.PLAIN, RobotsAnswer.RULES),  # shut as a whole
)
_SHUT = len(SPECIALS) - 1


def make_hosts(options: Options, prose: Prose) -> list[Host]:
    """All hosts with all their pages; the largest first, sizes by Zipf's law with every host at least one page."""
    random = Random(options.seed)
    specials = _specials(options, random)
    hosts: list[Host] = []
    for number, site in zip(range(options.hosts), _sites(), strict=False):
        special = specials.get(number)
        robots = _robots(options, random, special)
        manner = SPECIALS[special][0] if special is not None else Manner.PLAIN
        latency = options.latency + (options.slow if manner is Manner.SLOW else 0.0)
        site_name = f"s{site}.{options.domain}"
        hosts.append(
            Host(
                number,
                f"h{number}.{site_name}",
                site_name,
                _address(number),
                manner,
                robots,
                latency,
            )
        )
    _lay_traps(options, [host for host in hosts if host.number not in specials])
    for host, size in zip(hosts, _sizes(options), strict=True):
        Filling(options, prose, hosts, host).fill(size)
    return hosts


def _specials(options: Options, random: Random) -> dict[int, int]:
    """Host number → index in `SPECIALS`: one host in eight, or one of each kind in a small world; never a seed."""
    if not options.troubles:
        return {}
    others = random.sample(range(options.seeds, options.hosts), options.hosts - options.seeds)
    chosen = others[: max(len(SPECIALS), options.hosts // 8)]
    return {number: index % len(SPECIALS) for index, number in enumerate(chosen)}


def _sites() -> Iterator[int]:
    """The site of each host in turn: sites have three, one, one and two hosts."""
    for site, size in enumerate(cycle((3, 1, 1, 2))):
        yield from [site] * size


def _address(number: int) -> str:
    return f"127.{10 + number // 62500}.{number // 250 % 250 + 1}.{number % 250 + 1}"


def _sizes(options: Options) -> list[int]:
    weights = [1 / (rank + 1) ** options.zipf for rank in range(options.hosts)]
    spare = options.pages - options.hosts
    sizes = [1 + int(spare * weight / sum(weights)) for weight in weights]
    sizes[0] += options.pages - sum(sizes)
    return sizes


def _robots(options: Options, random: Random, special: int | None) -> Robots:
    answer = random.choices(
        (RobotsAnswer.RULES, RobotsAnswer.EMPTY, RobotsAnswer.MISSING), (5, 1, 4)
    )[0]
    if special is not None:
        answer = SPECIALS[special][1]
    if special == _SHUT:
        return Robots(answer, (Group("*", ("all",)),))
    delay = options.crawl_delay if random.random() < 0.3 else 0.0
    groups = [Group("*", _some_rules(random), delay)]
    if random.random() < 0.3:
        groups.insert(random.randrange(2), Group(AGENT, _some_rules(random), delay))
    if random.random() < 0.3:
        groups.append(Group("BadBot", ("all",)))
    return Robots(answer, tuple(groups))


def _some_rules(random: Random) -> tuple[str, ...]:
    private = random.choice(("private", "all_private", "nothing"))
    return (private, *random.sample(("secret", "ending", "search", "escaped"), random.randrange(4)))


def _lay_traps(options: Options, plain: list[Host]) -> None:
    names = [name for name, trap in TRAPS.items() if options.traps == "all" or not trap.endless]
    if options.traps == "none":
        return
    for index, name in enumerate(names):
        host = plain[index % len(plain)]
        host.traps = (*host.traps, name)
    plain[-1].wild = options.traps == "all"

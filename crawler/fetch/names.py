"""What is known of names: their addresses or why there are none, for how long, and whether anybody can be asked.

Pure: every method takes `now`, wall-clock seconds. It must not know sockets or c-ares.

::

    OSError
    └── ResolutionError          there are no addresses; the text is the reason
        ├── NoSuchNameError      the name does not exist (NXDOMAIN): asking again is no use
        ├── NoAddressError       it exists and has no address (NODATA): the same
        ├── ServerFailedError    the name servers answer, but not this question: the name's own servers are to blame
        └── OurTroubleError      says nothing about the name or its host
            ├── ResolverDownError   none of our name servers answers anything
            └── ResolverBusyError   no turn to ask came in time
"""

from typing import NamedTuple

from crawler.config import Dns
from crawler.url.keys import without_root

# Names remembered by one process. Leases touch some hundreds of hosts at a time; a forgotten name
# costs one query.
CACHED_NAMES = 50_000

# Seconds for which a failure is remembered: so long that the host's next URLs need not wait for the
# same time-out, so short that a blip condemns nobody (RFC 2308 §7.1 allows five minutes).
FAILURE_TTL = 5.0

# Seconds for which it is believed that the name servers are alive, or dead.
VERDICT_TTL = 5.0


class ResolutionError(OSError):
    """There are no addresses for a name."""


class NoSuchNameError(ResolutionError):
    """The name does not exist."""


class NoAddressError(ResolutionError):
    """The name exists and has no address."""


class ServerFailedError(ResolutionError):
    """The servers responsible for the name failed."""


class OurTroubleError(ResolutionError):
    """The name could not be asked for; that is our trouble."""


class ResolverDownError(OurTroubleError):
    """None of our name servers answers."""


class ResolverBusyError(OurTroubleError):
    """Too many names are asked for at once."""


# What the name itself is said to be: true for all URLs of the host, now and for a while.
LASTING = (NoSuchNameError, NoAddressError)


class Addresses(NamedTuple):
    """The addresses of a name until `expires_at`, in the order they are to be tried; or why there are none."""

    ips: tuple[str, ...]
    error: ResolutionError | None
    expires_at: float

    def told(self) -> tuple[str, ...]:
        """The addresses; raises what stands in their place (a new one: tracebacks grow)."""
        if self.error is not None:
            raise type(self.error)(*self.error.args)
        return self.ips


class AddressCache:
    """Past answers, the bad ones too (RFC 2308). At most `size` names: the oldest go first."""

    def __init__(self, dns: Dns, size: int = CACHED_NAMES) -> None:
        self._dns = dns
        self._size = size
        self._names: dict[str, Addresses] = {}

    def get(self, name: str, now: float) -> Addresses | None:
        """What is known of `name` and still holds at `now`."""
        known = self._names.get(name)
        return known if known is not None and now < known.expires_at else None

    def found(self, name: str, ips: tuple[str, ...], ttl: float, now: float) -> Addresses:
        """Remember addresses for `ttl` seconds, within the configured bounds."""
        seconds = min(max(ttl, self._dns.min_ttl), self._dns.max_ttl)
        return self._keep(name, Addresses(ips, None, now + seconds))

    def failed(self, name: str, error: ResolutionError, now: float) -> Addresses:
        """Remember why there are no addresses: as long as the error deserves."""
        if isinstance(error, OurTroubleError):
            return Addresses((), error, now)
        seconds = self._dns.negative_ttl if isinstance(error, LASTING) else FAILURE_TTL
        return self._keep(name, Addresses((), error, now + seconds))

    def _keep(self, name: str, addresses: Addresses) -> Addresses:
        self._names.pop(name, None)
        if len(self._names) >= self._size:
            del self._names[next(iter(self._names))]
        self._names[name] = addresses
        return addresses


class Outage:
    """Whether our own name servers are dead, by what they were last seen to do. They begin alive."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._believed_until = 0.0
        self.answers = 0

    def answered(self) -> bool:
        """A name server has answered anything at all; whether that ends an outage."""
        ends = self._since is not None
        self._since, self._believed_until = None, 0.0
        self.answers += 1
        return ends

    def silent(self, now: float) -> bool:
        """None has answered although it was asked; whether that begins an outage."""
        begins = self._since is None
        self._since = now if self._since is None else self._since
        self._believed_until = now + VERDICT_TTL
        return begins

    def holds(self, now: float) -> bool:
        """Whether asking is no use at the moment."""
        return now < self._believed_until

    def seconds(self, now: float) -> float:
        """How long it has lasted."""
        return 0.0 if self._since is None else now - self._since


def plain(host: str) -> str:
    """The one spelling of a name (RFC 4343; a last dot only says that the name is complete; two are no name)."""
    return without_root(host).lower()


def literal(name: str) -> bool:
    """Whether a wire URL's host is an address: a name whose last label is a number would be no URL."""
    return ":" in name or name.rpartition(".")[2].isdigit()

"""Hosts that share an address, as one host as far as time goes (`politeness.address_delay`).

Pure. A host whose address is not known yet is in no group: its first lease finds the address out, and asks nothing.
"""

from crawler.frontier.host import Host
from crawler.frontier.politeness import EVER

# Addresses nobody has entries for are forgotten when there are so many, and their delay is over.
_KEPT = 10_000


class Shared:
    """At most one host of an address is lent; the next is asked `delay` seconds after the last answer from there."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._turns = 0
        self._lent: dict[str, int] = {}
        self._free_at: dict[str, float] = {}
        self._members: dict[str, dict[str, tuple[int, Host]]] = {}

    def moment(self, host: Host) -> float:
        """From when on the address may be asked; infinite while another host of it is lent."""
        if host.address in self._lent:
            return EVER
        return self._free_at.get(host.address, 0.0)

    def add(self, host: Host) -> int:
        """A host has something to do; its turn: after all others of its address, unless it had one."""
        if not host.address:
            return 0
        members = self._members.setdefault(host.address, {})
        if host.name not in members:
            self._turns += 1
            members[host.name] = self._turns, host
        return members[host.name][0]

    def remove(self, host: Host) -> None:
        """A host has nothing to do."""
        members = self._members.get(host.address)
        if members and members.pop(host.name, None) and not members:
            del self._members[host.address]

    def lend(self, host: Host) -> None:
        """A host of the address is lent."""
        self.remove(host)
        if host.address:
            self._lent[host.address] = self._lent.get(host.address, 0) + 1

    def end_loan(
        self, host: Host, asked: float | None, found: str | None, now: float
    ) -> list[Host]:
        """A lent host is back: `asked` until then, if at all; `found`: its address, if that is news.

        Returns the hosts of the address that waited for it, in their order. Called once a lease, it touches them all:
        an address with thousands of hosts costs a millisecond a thousand.
        """
        if host.address:
            self._lent[host.address] -= 1
            if not self._lent[host.address]:
                del self._lent[host.address]
        waiting = [member for _, member in self._members.get(host.address, {}).values()]
        for address in {host.address, found or ""} - {""}:
            if asked is not None:
                self._free_at[address] = max(self._free_at.get(address, 0.0), asked + self._delay)
        host.address = found or host.address
        if len(self._free_at) > _KEPT + 2 * len(self._members):
            self._free_at = {name: at for name, at in self._free_at.items() if at > now}
        return waiting

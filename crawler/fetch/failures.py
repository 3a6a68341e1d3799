"""Why an exchange failed: the errors of this package's own, and the kind and the words of any."""

import os
import ssl
from typing import NamedTuple

import aiohttp
from python_socks import ProxyError

from crawler.fetch.names import LASTING, OurTroubleError, ResolutionError
from crawler.outcomes import Kind

# All that is raised on what hosts send and networks do: some errors of aiohttp's parser are not its
# own `ClientError`.
FAILURES = (
    aiohttp.ClientError,
    aiohttp.http_exceptions.HttpProcessingError,
    ProxyError,
    OSError,
    ValueError,
    RuntimeError,
    AssertionError,
)


class RefusedAddressError(OSError):
    """The guard refused the address; nothing was sent to it."""


class ExhaustedError(aiohttp.ClientError):
    """No more connections can be opened from here for now; it says nothing about the host."""

    def __init__(self, number: int) -> None:
        super().__init__(f"no connection can be opened from here: {os.strerror(number)}")


class TimedOutError(aiohttp.ClientError):
    """A phase of the exchange took too long. No `TimeoutError`: aiohttp would try it again."""

    def __init__(self, phase: str, seconds: float) -> None:
        super().__init__(f"{phase} timed out after {seconds:g} s")


class TooSlowError(aiohttp.ClientError):
    """The answer trickles."""

    def __init__(self, bytes_per_second: int) -> None:
        super().__init__(f"slower than {bytes_per_second} bytes a second")


class TlsError(aiohttp.ClientError):
    """No TLS connection came about."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(_tls_reason(error))


class NoAnswerError(aiohttp.ClientError):
    """The connection ended before a head came.

    Not one of the errors after which aiohttp sends the request a second time at once: that would be
    a request that the host's delay did not allow. `stale`: the connection had served an earlier
    exchange.
    """

    def __init__(self, reason: str, *, stale: bool) -> None:
        super().__init__(reason)
        self.stale = stale


class Failure(NamedTuple):
    """An error as an `Answer` says it, field by field."""

    kind: Kind
    error: str
    stale: bool = False
    nameless: bool = False
    ours: bool = False


def failure(error: BaseException) -> Failure:
    """What an error (one of `FAILURES`) is to the crawl."""
    error = _cause(error)
    return Failure(
        kind=next(
            (kind for type_, kind in _KINDS if isinstance(error, type_)), Kind.PROTOCOL_ERROR
        ),
        error=" ".join(reason(error).split())[:500],
        stale=isinstance(error, NoAnswerError) and error.stale,
        nameless=isinstance(error, LASTING),
        ours=isinstance(error, (OurTroubleError, ExhaustedError)),
    )


def reason(error: BaseException) -> str:
    """What went wrong, without the wrappings that others put around it."""
    if isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy answers {error.status} {error.message}"
    if isinstance(error, ProxyError):
        return f"the proxy says: {error}"
    if isinstance(error, OSError) and error.errno and error.strerror:
        if error.errno < 0:
            return error.strerror
        return f"{os.strerror(error.errno)}: {error.strerror}"
    return str(error) or type(error).__name__


def _cause(error: BaseException) -> BaseException:
    """The guard's refusal or the name's failure, where aiohttp has wrapped one."""
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(
        error.os_error, (RefusedAddressError, ResolutionError)
    ):
        return error.os_error
    return error


_KINDS: tuple[tuple[type[BaseException], Kind], ...] = (
    (RefusedAddressError, Kind.BLOCKED_ADDRESS),
    (ResolutionError, Kind.DNS_ERROR),
    (ExhaustedError, Kind.CONNECT_ERROR),
    (aiohttp.ClientConnectorError, Kind.CONNECT_ERROR),
    (aiohttp.ClientHttpProxyError, Kind.CONNECT_ERROR),
    (ProxyError, Kind.CONNECT_ERROR),
    (TlsError, Kind.TLS_ERROR),
    (TimedOutError, Kind.TIMEOUT),
    (TimeoutError, Kind.TIMEOUT),
    (TooSlowError, Kind.TOO_SLOW),
)


def _tls_reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return f"TLS: {error.reason.replace('_', ' ').lower()}"
    if isinstance(error, ConnectionError):
        return "the server hung up in the TLS handshake"
    return f"TLS: {reason(error)}"

"""One frozen tree holds every choice of a crawl. An unknown key or a bad value stops the start.

Units are in the names or the docs: seconds and bytes throughout. The defaults are what a stranger's server may be
met with.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from crawler.credentials import Auth, CookieName, CookieValue, HeaderName, HeaderValue, Proxy
from crawler.spelling import (
    Addresses,
    Hostname,
    HostPattern,
    Name,
    NameServer,
    Network,
    Pattern,
    UserAgent,
)

# Strict: a truth is no number, nor is a text.
Integer = Annotated[int, Field(strict=True)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Seconds = Annotated[Real, Field(ge=0)]
Bytes = Annotated[Integer, Field(ge=0)]
Number = Annotated[Integer, Field(ge=0)]
Count = Annotated[Integer, Field(ge=1)]
Positive = Annotated[Real, Field(gt=0)]
Fraction = Annotated[Real, Field(gt=0, lt=1)]


class Frozen(BaseModel):
    """A branch of the tree: immutable, and strict about names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ScopeMode(StrEnum):
    """How far from the seeds a crawl may go."""

    HOST = "host"
    SITE = "site"
    ANY = "any"


class Scope(Frozen):
    """Which URLs belong to the crawl. Patterns are RE2 (linear time), searched anywhere in the wire URL.

    `max_url_length` (characters), `max_path_segments`, `max_repeated_segments` (times that one segment of a path may
    occur) and `max_parameters` (of a query) end URLs that grow without end. They do not bind seeds, nor does `include`.
    """

    mode: ScopeMode = ScopeMode.SITE
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    max_depth: Number | None = None
    max_url_length: Count = 2048
    max_path_segments: Count = 32
    max_repeated_segments: Count = 3
    max_parameters: Count = 20
    max_redirects: Number = 10
    follow_nofollow: bool = False
    follow_duplicates: bool = False


class Url(Frozen):
    """Which spellings count as one URL (the key only; what is sent is never touched).

    Parameters of the query and of path segments count for nothing if they are called like one of `tracking_parameters`
    (`*`: any text), or like one of `session_parameters` with a value that looks random (`sid=5` may name a page).
    """

    tracking_parameters: tuple[str, ...] = (
        "utm_*", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "ttclid",
        "igshid", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "mkt_tok", "oly_anon_id", "oly_enc_id",
        "phpsessid", "jsessionid", "aspsessionid*", "sessid", "cfid", "cftoken", "zenid", "oscsid",
    )  # fmt: skip
    session_parameters: tuple[str, ...] = (
        "s",
        "sid",
        "sess",
        "session",
        "session-id",
        "session_id",
        "sessionid",
    )
    sort_query: bool = True
    strip_trailing_slash: bool = False


class HostPoliteness(Frozen):
    """What one host is granted instead of the general rule."""

    delay: Seconds | None = None
    max_pages: Count | None = None


class Politeness(Frozen):
    """How a host is treated. Delays run from the end of a response to the start of the next request.

    An incident (429, 503, no connection, no answer) takes a host out for `backoff_base` seconds, doubling with each
    further one in a row up to `backoff_cap`, or for the Retry-After that it sent, up to `retry_after_cap`. After
    `incidents_before_parking` in a row it is parked for `park_seconds` and then tried once; after as many rests in vain
    as `parks_before_giving_up` it is given up (0: instead of the first). When nothing but failing hosts and retries is
    left anywhere, the crawl waits for them for `last_wait` seconds at most; but for those that have given a page
    before, until their outage has lasted for `outage_wait`. When no host answers at all any more, and several sites
    failed at once that had given pages, the crawl seems to have no network: nothing counts against hosts, and if it
    lasts for `outage_wait` (0: this is not looked for) the crawl ends as it is, to be resumed. `retry_wait_factor`
    scales the waits of single URLs; `response_time_factor` times the last answer's seconds is a delay, too. With
    `address_delay` the hosts of an address are asked one at a time, with so many seconds in between, as far as they
    are in one shard. `hosts`: by exact hostname.
    """

    delay: Seconds = 1.0
    crawl_delay_cap: Seconds = 60.0
    response_time_factor: Annotated[Real, Field(ge=0)] = 0.0
    backoff_base: Seconds = 10.0
    backoff_cap: Seconds = 3600.0
    retry_after_cap: Seconds = 3600.0
    incidents_before_parking: Count = 8
    park_seconds: Seconds = 1800.0
    parks_before_giving_up: Number = 2
    last_wait: Seconds = 60.0
    outage_wait: Seconds = 600.0
    address_delay: Seconds | None = None
    retry_wait_factor: Annotated[Real, Field(ge=0)] = 1.0
    hosts: dict[Hostname, HostPoliteness] = Field(default_factory=dict)


class Robots(Frozen):
    """RFC 9309. Turning `obey` off is for your own servers.

    `timeout`, `max_bytes`: of one robots.txt. `ttl`: how long its rules are used; with one shorter than the delay
    between two requests they are always too old, and nothing is fetched. `max_redirects`: also to other hosts.
    """

    obey: bool = True
    timeout: Seconds = 20.0
    max_bytes: Annotated[Integer, Field(ge=500 * 1024)] = 512 * 1024
    ttl: Annotated[Real, Field(gt=0, le=86400)] = 86400.0
    max_redirects: Count = 5


class HostFetch(Frozen):
    """What is sent to one host, and how it is reached. None of it is sent anywhere else, redirects included.

    `auth`: "user:password" (basic). `proxy`: instead of `fetch.proxy`. `verify_tls = false` takes any certificate, and
    its rows say so (`tls_verified`). Secrets are not written to the output.
    """

    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    cookies: dict[CookieName, CookieValue] = Field(default_factory=dict)
    auth: Auth | None = None
    proxy: Proxy | None = None
    verify_tls: bool = True


class Fetch(Frozen):
    """Limits of one exchange and of one fetch task.

    `connect_timeout`: TCP (and a SOCKS proxy's handshake); `tls_timeout`: the TLS handshake; `first_byte_timeout`: for
    the first byte, and then for the next one; `min_bytes_per_second`: of an answer, after some seconds of grace.
    `max_header`: bytes of one line; `max_head`: of all lines, interim answers included. `max_bytes_in_flight`: of large
    bodies that one process holds at a time. `proxy`: http://, https://, socks5:// or socks5h://, perhaps with
    credentials; names are resolved here with all of them. `hosts`: by exact hostname, or with a dot before it
    (".example.com") for that host and all below it; the longest that fits applies, alone.
    """

    connect_timeout: Positive = 10.0
    tls_timeout: Positive = 10.0
    first_byte_timeout: Positive = 30.0
    total_timeout: Positive = 120.0
    min_bytes_per_second: Bytes = 64
    max_body: Annotated[Integer, Field(ge=1024)] = 10 * 1024 * 1024
    max_header: Annotated[Integer, Field(ge=4096)] = 64 * 1024
    max_head: Annotated[Integer, Field(ge=4096)] = 256 * 1024
    max_bytes_in_flight: Count = 256 * 1024 * 1024
    types: tuple[str, ...] = ("text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml",
                              "application/rss+xml", "application/atom+xml", "application/rdf+xml",
                              "application/pdf")  # fmt: skip
    allow_private: bool = False
    allow_networks: tuple[Network, ...] = ()
    accept_language: str = "en,*;q=0.5"
    proxy: Proxy | None = None
    hosts: dict[HostPattern, HostFetch] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.max_body > self.max_bytes_in_flight:
            message = "max_bytes_in_flight is less than max_body"
            raise ValueError(message)
        return self


class Sitemaps(Frozen):
    """Sitemaps and feeds as sources of links.

    `discover`: of every origin that answers, `/sitemap.xml` and what its robots.txt names are read (sitemaps among the
    seeds always are). `max_bytes`, `max_urls`: of one sitemap, unpacked; what the protocol allows. `max_files`: of one
    host; further ones are dropped as `sitemap_limit`.
    """

    discover: bool = True
    max_bytes: Annotated[Integer, Field(ge=1024)] = 50 * 1024 * 1024
    max_urls: Count = 50_000
    max_files: Count = 1000


class Dns(Frozen):
    """Names to addresses. `overrides` (a name, exactly: an address or several) answers before any server is asked.

    `nameservers`: `IP`, `IP:port` or `[IPv6]:port`; the next is asked when one is silent or fails; none: the system's.
    `timeout`: for one name, all servers and retries together. `concurrency`: names asked for at a time by a process.
    Answers are kept for their TTL, at least `min_ttl` and at most `max_ttl`; that there is none, for `negative_ttl`.
    When no server answers, hosts whose names are not known are tried again after `retry_wait`, without this counting
    against them, until it has lasted for `patience`. `retry_wait` holds too for hosts that cannot be reached because
    this machine has no network, or no files, memory or ports left.
    """

    timeout: Positive = 10.0
    nameservers: tuple[NameServer, ...] = ()
    overrides: dict[Name, Addresses] = Field(default_factory=dict)
    concurrency: Count = 100
    min_ttl: Seconds = 30.0
    max_ttl: Annotated[Seconds, Field(validate_default=True)] = 3600.0
    negative_ttl: Seconds = 60.0
    retry_wait: Seconds = 30.0
    patience: Seconds = 900.0

    @field_validator("max_ttl")
    @classmethod
    def _not_below_min(cls, max_ttl: float, info: ValidationInfo) -> float:
        if max_ttl < info.data.get("min_ttl", 0.0):
            message = "less than dns.min_ttl"
            raise ValueError(message)
        return max_ttl


class Budget(Frozen):
    """Where the crawl, a site or a host stops. `None`: no limit.

    The last four end traps (`crawler.url.shape` says what they count); they count new URLs, and never refuse seeds.
    `hosts_per_site`: hosts of one site (its names may be endless). Of one host: `calendar_years`: URLs that differ
    only in a date, as many as there are months, weeks or days in so many years; `token_urls`: URLs that begin alike
    and then have something random; `parameter_choices`: combinations of words and page numbers in the query of one
    path, whatever the ids beside them. URLs of a sitemap are counted, but not refused by these three.
    """

    max_pages: Count | None = None
    max_bytes: Count | None = None
    max_seconds: Seconds | None = None
    pages_per_host: Count | None = None
    pages_per_site: Count | None = None
    hosts_per_site: Count | None = 1_000
    calendar_years: Count | None = 50
    token_urls: Count | None = 50_000
    parameter_choices: Count | None = 10_000


class Priority(Frozen):
    """Lower is sooner (0..255): depth * `depth_step`, less the boosts, less the bonus of the first matching pattern.

    `sitemap_boost` is for sitemaps and for what they list.
    """

    depth_step: Annotated[Integer, Field(ge=0, le=255)] = 16
    seed_boost: Annotated[Integer, Field(ge=0, le=255)] = 64
    sitemap_boost: Annotated[Integer, Field(ge=0, le=255)] = 16
    patterns: tuple[tuple[Pattern, Annotated[Integer, Field(ge=-255, le=255)]], ...] = ()


class Frontier(Frozen):
    """A shard's memory. The Bloom filter grows by further filters when it is full."""

    bloom_capacity: Count = 1_000_000
    bloom_false_positive_rate: Fraction = 0.01
    block_cache: Bytes = 64 * 1024 * 1024
    write_buffer: Bytes = 32 * 1024 * 1024


class Page(Frozen):
    """What a page's row holds, and what reading it may take.

    `srcset`: the candidates of `srcset` and `imagesrcset` are links too (`fetch.types` refuses images, unless they are
    among them). `follow_feeds`: so are the feeds that a page names in a `<link>`.

    A batch of pages that takes longer than `batch_seconds` is taken to hang. It is read again, apart: each page in
    another process, which may take `apart_seconds` and `apart_memory` bytes for it. PDFs are always read apart.
    """

    store_body: bool = True
    store_text: bool = True
    max_links: Count = 100_000
    srcset: bool = False
    follow_feeds: bool = False
    batch_seconds: Annotated[Real, Field(gt=0, le=86400)] = 60.0
    apart_seconds: Annotated[Real, Field(gt=0, le=86400)] = 20.0
    apart_memory: Annotated[Integer, Field(ge=64 * 1024 * 1024)] = 1024 * 1024 * 1024

    @model_validator(mode="after")
    def _hangs_are_longer(self) -> Self:
        if self.apart_seconds >= self.batch_seconds:
            message = "apart_seconds must be less than batch_seconds"
            raise ValueError(message)
        return self


class Dataset(Frozen):
    """The size and age at which an open segment becomes a Parquet file."""

    segment_bytes: Count = 256 * 1024 * 1024
    segment_seconds: Seconds = 300.0
    compression_level: Annotated[Integer, Field(ge=1, le=22)] = 3
    sync: bool = True


class Runtime(Frozen):
    """How the crawl lies on the machine or the cluster. 0: chosen from the CPUs there are.

    `state`: the directory on each node's own disk for what the shards know; `None`: `OUT/state`, if that is local.
    """

    shards: Count = 1
    state: Path | None = None
    cpus: Number = 0
    fetch_tasks: Number = 0
    lease_seconds: Annotated[Real, Field(gt=0)] = 10.0
    lease_hosts: Count = 200
    lease_urls: Count = 1000
    urls_per_host: Count = 100
    batch_bytes: Count = 2 * 1024 * 1024
    batch_seconds: Annotated[Real, Field(gt=0)] = 0.5


class Config(Frozen):
    """Everything that a crawl may be told, except its seeds and its output."""

    user_agent: UserAgent = "raycrawl/0.1"
    scope: Scope = Scope()
    url: Url = Url()
    politeness: Politeness = Politeness()
    robots: Robots = Robots()
    fetch: Fetch = Fetch()
    sitemaps: Sitemaps = Sitemaps()
    dns: Dns = Dns()
    budget: Budget = Budget()
    priority: Priority = Priority()
    frontier: Frontier = Frontier()
    page: Page = Page()
    dataset: Dataset = Dataset()
    runtime: Runtime = Runtime()

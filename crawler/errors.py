"""The errors a crawl can end with. What happens to one URL is an outcome (`crawler.outcomes`), never an error.

::

    CrawlError            anything a user is told in one line
    ├── ConfigError       an option or a configuration key is wrong
    ├── InputError        a seed or a seed file cannot be used
    ├── OutputError       the output belongs to another crawl, or cannot be written
    ├── ApartError        no process can be started that reads pages apart
    ├── StateError        a shard's local state is damaged: delete it, it is rebuilt from the rows
    └── FencedError       a message or file of an older incarnation; the sender must stop
"""


class CrawlError(Exception):
    """One clear line: what is wrong, where, and what to do."""


class ConfigError(CrawlError):
    """An option or a configuration key is wrong."""


class InputError(CrawlError):
    """A seed or a seed file cannot be used."""


class OutputError(CrawlError):
    """The output belongs to another crawl, or cannot be written."""


class ApartError(CrawlError):
    """No process can be started that reads pages apart."""


class StateError(CrawlError):
    """A shard's local state is damaged."""


class FencedError(CrawlError):
    """The caller belongs to an older epoch and must stop."""

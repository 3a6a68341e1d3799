"""What a crawler must be told to crawl a simulated web: its names, and waits that suit a test.

Written as text against the crawler's published configuration keys, not with its code.
"""

import json
from collections.abc import Mapping

# Seconds. The defaults of a crawler are for strangers' servers; here a dead host must be given up within a test.
_SETTINGS = """\
[scope]
mode = "any"

[fetch]
allow_private = true
connect_timeout = 2
first_byte_timeout = 2

[robots]
timeout = 2

[sitemaps]
discover = {sitemaps}

[politeness]
delay = {delay}
backoff_base = 0.2
backoff_cap = 1.0
retry_wait_factor = 0.01
incidents_before_parking = 3
parks_before_giving_up = 0

[dns.overrides]
"""


def config_toml(overrides: Mapping[str, str], delay: float, *, sitemaps: bool) -> str:
    """The text of a crawler's configuration file.

    `delay`: seconds between two requests of a host; `sitemaps`: whether to look for them.
    """
    # A JSON string is a TOML basic string.
    names = "".join(
        f"{json.dumps(name)} = {json.dumps(address)}\n" for name, address in overrides.items()
    )
    return _SETTINGS.format(delay=delay, sitemaps=json.dumps(sitemaps)) + names

"""The product token of a user agent: the name by which robots.txt and robots tags speak to it.

It knows nothing of files, groups or pages.
"""

import re

_REST = re.compile("[^A-Za-z_-].*", re.DOTALL)


def product_token(user_agent: str) -> str:
    """The leading run of letters, `_` and `-` (RFC 9309 §2.2.1); empty where there is none.

    >>> product_token("raycrawl/0.1 (+https://example.com/bot)")
    'raycrawl'
    """
    return _REST.sub("", user_agent, count=1)

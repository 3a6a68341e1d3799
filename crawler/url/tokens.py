"""What is drawn at random looks unlike what people write: session ids, hashes, UUIDs. Pure."""

import re

_HEX = re.compile(r"(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]+")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TURN = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])")

SHORTEST = 16

# Random characters turn from digit to letter or back 6 times in 16 (base 36), 5 times in 20 (base 62);
# `iphone15promax` does so twice, most names never.
_TURNS = 3


def is_token(text: str) -> bool:
    """Whether a text is letters and digits without a plan: 16 or more of them, mixed, or a UUID.

    Long numbers are none, nor is anything else with a hyphen or an underscore: titles have them.
    """
    if len(text) < SHORTEST:
        return False
    if not text.isalnum():
        return _UUID.fullmatch(text) is not None
    return _HEX.fullmatch(text) is not None or len(_TURN.findall(text)) >= _TURNS

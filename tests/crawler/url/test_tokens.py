import random
import uuid

import pytest

from crawler.url.tokens import is_token

DIGITS = "0123456789"
LOWER = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    "text",
    [
        "0123456789abcdef",
        "D41D8CD98F00B204E9800998ECF8427E",
        "lit3py55t21z5v55vlm25s55",
        "UC8b2G9TdZcqO9hMOzhEFSeg",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_random_text(text):
    assert is_token(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "short1a2b3c",
        "20240517123456789",
        "abcdefabcdefabcdefabcdef",
        "iphone15promaxreview",
        "internationalisation",
        "top-10-best-4k-tv-2024-5g",
        "classcv_1_1Mat_8h_source",
        "550e8400-e29b-41d4-a716-44665544000",
    ],
)
def test_what_people_write(text):
    assert not is_token(text)


@pytest.mark.parametrize(
    ("alphabet", "length", "share"),
    [
        (DIGITS + "abcdef", 16, 0.999),
        (DIGITS + "abcdef", 32, 0.9999),
        (DIGITS + LOWER, 16, 0.9),
        (DIGITS + LOWER, 24, 0.98),
        (DIGITS + LOWER + LOWER.upper(), 22, 0.8),
    ],
)
def test_most_random_texts_are_known_as_such(alphabet, length, share):
    rng = random.Random(1)
    found = sum(is_token("".join(rng.choices(alphabet, k=length))) for _ in range(5000))
    assert found >= share * 5000
    assert is_token(str(uuid.UUID(int=rng.getrandbits(128))))

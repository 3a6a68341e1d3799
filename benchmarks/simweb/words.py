"""Prose out of a seed: words that look like a language, frequent and rare ones, sentences and paragraphs.

Paragraphs are made once and drawn from afterwards: a page costs a few hundred draws, not thousands of words.
"""

from itertools import accumulate
from random import Random

_STARTS = "b br c d dr f fl g gr h k l m n p pl r s st t tr v w".split()  # noqa: SIM905
_MIDDLES = "a e i o u ai ea ou".split()  # noqa: SIM905
_ENDS = "n r s t l nd m".split()  # noqa: SIM905

VOCABULARY = 3000
PARAGRAPHS = 700


def _word(random: Random) -> str:
    syllables = random.choice((1, 2, 2, 3))
    return "".join(
        random.choice(_STARTS) + random.choice(_MIDDLES) for _ in range(syllables)
    ) + random.choice(_ENDS)


class Prose:
    """The same seed gives the same words and paragraphs. Frequencies follow Zipf's law, as in a language."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.words = sorted({_word(random) for _ in range(VOCABULARY)})
        random.shuffle(self.words)
        weights = list(accumulate(1 / rank for rank in range(1, len(self.words) + 1)))
        self.paragraphs = [self._paragraph(random, weights) for _ in range(PARAGRAPHS)]
        self.phrases = [
            " ".join(random.choices(self.words, k=random.choice((1, 2, 2, 3, 4))))
            for _ in range(PARAGRAPHS)
        ]
        self.paragraph_bytes = sum(map(len, self.paragraphs)) / PARAGRAPHS

    def _paragraph(self, random: Random, weights: list[float]) -> str:
        sentences = []
        for _ in range(random.randint(2, 6)):
            words = random.choices(self.words, cum_weights=weights, k=random.randint(6, 22))
            if random.random() < 0.3:
                place = random.randrange(len(words))
                words[place] = f"<em>{words[place]}</em>"
            sentences.append(" ".join(words).capitalize())
        return f'<p class="text c{random.randint(1, 9)}">' + ". ".join(sentences) + ".</p>\n"

"""Which language a sentence is written in.

The rules of the decomposer are English grammar: on other text they make nonsense, so such text is told apart first.
py3langid carries its model in the package and needs no download.
"""

from __future__ import annotations

from functools import cache
from typing import Any

# Nigerian Pidgin is taken for English and the other way round; "zxx" is no language at all.
LIKE_ENGLISH = frozenset({"en", "pcm", "zxx"})
ENGLISH, FOREIGN, UNSURE = "english", "foreign", "unsure"
# Words that a short English text has and a text in another language has not; they spare the model most of its work.
COMMON = frozenset({
    "a", "after", "an", "and", "are", "as", "at", "been", "but", "by", "for", "from", "had", "has", "have", "he",
    "her", "his", "is", "it", "its", "of", "on", "said", "says", "she", "that", "the", "their", "they", "to", "was",
    "were", "who", "will", "with",
})  # fmt: skip
MIN_WORDS = 5
SURE = 0.8


def is_foreign(text: str) -> bool:
    """Whether a text is surely not English."""
    return tell_language(text) == FOREIGN


def tell_language(text: str) -> str:
    """English, foreign, or unsure. Few words decide nothing, unless they are in another script."""
    letters = [letter for letter in text if letter.isalpha()]
    if letters and sum(ord(letter) < 0x250 for letter in letters) * 2 < len(letters):
        return FOREIGN
    words = text.lower().split()
    known = [word for word in words if word in COMMON]
    if len(set(known)) > 1 and 5 * len(known) >= len(words):
        return ENGLISH
    if len(words) < MIN_WORDS:
        return UNSURE
    language, probability = load_languages().classify(text)
    if float(probability) < SURE:
        return UNSURE
    return ENGLISH if language in LIKE_ENGLISH else FOREIGN


@cache
def load_languages() -> Any:
    """The model of py3langid, once for a process."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

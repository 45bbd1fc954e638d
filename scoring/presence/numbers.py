"""Numbers as values: "six", "6", "6.0" and "£6" are one number, "3,400" and "3400" as well."""

from __future__ import annotations

import re

SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
VALUES: dict[str, float] = {
    **{word: float(place) for place, word in enumerate(SMALL)},
    **{word: 10.0 * place for place, word in enumerate(TENS, 3)},
    **{word: float(place) for place, word in enumerate(ORDINALS, 1)},
    "once": 1.0, "twice": 2.0, "double": 2.0, "triple": 3.0, "dozen": 12.0, "half": 0.5,
}  # fmt: skip
SCALES = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
    "trillion": 1e12, "tn": 1e12,
}  # fmt: skip
DIGITS = re.compile(r"(\d[\d,]*(?:\.\d+)?)[ -]?([a-z]+)?")
WORDS = re.compile(r"[a-z]+")
NEAR = 0.06  # "about 9,400" and "9,000" are told as the same


def numbers_of(text: str, following: str = "") -> tuple[float, ...]:
    """The values of the numbers in a word. A scale may follow as the next word ("3.4 million", "six hundred")."""
    low = text.lower()
    found = []
    for match in DIGITS.finditer(low):
        value = float(match[1].replace(",", "") or 0)
        found.append(value * SCALES.get(match[2] or following.lower(), 1.0))
    if not found:
        for word in WORDS.findall(low):
            if word in VALUES:
                found.append(VALUES[word] * SCALES.get(following.lower(), 1.0))
    return tuple(found)


def are_near(one: float, other: float) -> bool:
    return one == other or (max(abs(one), abs(other)) > 12 and abs(one - other) <= NEAR * max(abs(one), abs(other)))

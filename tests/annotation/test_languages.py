"""Other languages are told from English; short text is given the benefit of the doubt."""

from __future__ import annotations

import pytest

from annotation.languages import is_foreign, tell_language


@pytest.mark.parametrize(
    "text",
    [
        "Der Bürgermeister hat am Freitag die neue Brücke eröffnet.",
        "Le maire a inauguré le nouveau pont vendredi matin à Lyon.",
        "El alcalde inauguró el nuevo puente sobre el río el viernes por la mañana.",
        "Мэр открыл новый мост в пятницу.",
        "市長は金曜日に新しい橋を開いた。",
        "خطاب",
    ],
)
def test_other_languages_are_foreign(text: str) -> None:
    assert is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nora Fisk",
        "MAN BITES DOG IN NEW YORK CITY ON FRIDAY NIGHT",
        "Fisk hits late winner as Rovers stun champions.",
        "The mayor said “déjà vu” and left the café.",
        "😀 😀 😀 😀 😀 😀",
        "3.4 5.6 7.8 9.10 11.12 13.14",
    ],
)
def test_english_and_what_cannot_be_told_is_not_foreign(text: str) -> None:
    assert not is_foreign(text)


def test_few_words_are_unsure_and_common_ones_english() -> None:
    assert tell_language("Die Brücke ist zu.") == "unsure"
    assert tell_language("The mill closed on Friday.") == "english"

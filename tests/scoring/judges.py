"""Judges for tests: one that counts shared words, and a real NLI model that is tiny and random."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from scoring.judging import Pair, Verdict


class WordJudge:
    """Presence is the share of the unit's words that the summary has. Remembers what it was asked."""

    name = "words"
    readings = ("p",)

    def __init__(self, revision: str = "1") -> None:
        self.revision = revision
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.asked += pairs
        return [Verdict(p=share_of_words(pair)) for pair in pairs]

    def has_seen(self, unit: str) -> bool:
        return unit.startswith("Snow")


def share_of_words(pair: Pair) -> float:
    words = pair.unit.lower().rstrip(".").split()
    return sum(word in pair.summary.lower() for word in words) / len(words)


WORDS = [
    "the",
    "mill",
    "closed",
    "forty",
    "people",
    "lost",
    "work",
    "ines",
    "brandt",
    "won",
    "race",
    "in",
    "hours",
    "snow",
    "fell",
    "shut",
    "it",
    "snowed",
    "nothing",
    "happened",
    ".",
    ",",
    "a",
    "is",
    "was",
    "of",
    "and",
    "to",
    "on",
    "at",
    "he",
    "she",
    "they",
    "not",
    "no",
    "said",
    "new",
    "old",
    "long",
    "day",
    "city",
    "river",
    "boat",
    "train",
    "fire",
]


@cache
def _vocabulary() -> list[str]:
    letters = [chr(code) for code in range(33, 127)]
    return [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *dict.fromkeys([*WORDS, *letters, *(f"##{x}" for x in letters)]),
    ]


def write_tiny_nli(folder: Path, labels: Sequence[str] = ("contradiction", "entailment", "neutral")) -> Path:
    """A BERT of two small layers with random weights, as a hub would ship it."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(_vocabulary()), encoding="utf-8")
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(_vocabulary()),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=512,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
    )
    model = BertForSequenceClassification(config)
    torch.nn.init.normal_(model.classifier.weight, std=2.0)  # or every answer would be the same
    model.save_pretrained(folder)
    BertTokenizerFast(vocab={word: place for place, word in enumerate(_vocabulary())}).save_pretrained(folder)
    return folder

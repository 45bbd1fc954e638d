"""Measures the decomposer on the published corpora: how well its units stand in for those that people wrote."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from annotation.decomposing.texts import decompose_texts
from annotation.overlap import best_overlap, overlap
from annotation.parses import SUBJECTS, Parse, Parser
from annotation.splitting import marked_sentences

SETS = {"realsumm": "REALSumm", "pyrxsum": "PyrXSum"}
# Rules were written while looking at these parts only; the rest is measured and was never read.
READ_FOLDS = ("fold1.id", "fold2.id", "fold3.id")
READ_LINES = 60
WINDOW = 7
# Windows per SCU: as many as the bar allows us units.
WINDOWS_PER_SCU = 1.25
NAMES = {"": "our units", "_allennlp": "AllenNLP's units", "_sentences": "whole sentences", "_windows": "blind windows"}
FINITE = ("VBD", "VBZ", "VBP", "MD")
Figure = tuple[str, float, str]
Units = Sequence[Sequence[str]]


def benchmark_decomposer(data: Path | None) -> Iterator[Figure]:
    """Figures as (key, value, what it means)."""
    if data is None:
        raise FileNotFoundError("The decomposer is measured on the published corpora. Name their folder: --data DIR")
    from annotation.spacy_parser import load_parser

    parser = load_parser()
    for key, name in SETS.items():
        folder = data / "lite2-3pyramid" / name
        references, scus, stus = (read_lines(folder / file) for file in ("references.txt", "SCUs.txt", "STUs.txt"))
        people = [read_units(line) for line in scus]
        candidates: dict[str, list[list[str]]] = {
            "": [
                [unit.text for sentence in found for unit in sentence.units]
                for found in decompose_texts(references, parser)
            ],
            "_allennlp": [read_units(line) for line in stus],
            "_sentences": [_sentences(text) for text in references],
            "_windows": [
                windows(text, round(WINDOWS_PER_SCU * len(own))) for text, own in zip(references, people, strict=True)
            ],
        }
        unread = _unread(folder, len(references))
        for suffix, units in candidates.items():
            yield from _figures(key, suffix, units, people, unread, parser)
    yield "sentences_per_s", _speed(data, parser), "sentences split, parsed and decomposed per second, REALSumm"


def _figures(key: str, suffix: str, units: Units, people: Units, unread: list[int], parser: Parser) -> Iterator[Figure]:
    who = NAMES[suffix]
    accuracy = [_mean_best(own, found) for own, found in zip(people, units, strict=True)]
    reverse = [_mean_best(found, own) for own, found in zip(people, units, strict=True)]
    paired = [one_to_one(own, found) for own, found in zip(people, units, strict=True)]
    count = sum(map(len, units)) / sum(map(len, people))
    flat = [unit for found in units for unit in found]
    yield f"{key}.accuracy{suffix}", fmean(accuracy), f"{who}: mean over SCUs of the best ROUGE-1 F1"
    yield f"{key}.reverse{suffix}", fmean(reverse), f"{who}: mean over units of the best SCU"
    yield f"{key}.units_per_scu{suffix}", count, f"{who}: how many for one SCU"
    yield f"{key}.one_to_one{suffix}", fmean(paired), f"{who}: best one-to-one pairing"
    yield (
        f"{key}.clauses{suffix}",
        fmean(map(is_clause, parser.parse(flat))),
        f"{who}: share with a finite verb and its subject, as our own parser sees it",
    )
    read = [place for place in range(len(people)) if place not in set(unread)]
    for name, values in (("accuracy", accuracy), ("reverse", reverse), ("one_to_one", paired)):
        yield f"{key}.{name}_read{suffix}", fmean(values[place] for place in read), f"{who}: {name}, the part read"
        yield f"{key}.{name}_unread{suffix}", fmean(values[place] for place in unread), f"{who}: {name}, never read"


def _mean_best(texts: Sequence[str], others: Sequence[str]) -> float:
    return fmean(best_overlap(text, others) for text in texts) if texts else 0.0


def one_to_one(people: Sequence[str], units: Sequence[str]) -> float:
    """Twice the sum of the best one-to-one pairing, over the number of SCUs and units."""
    import numpy
    from scipy.optimize import linear_sum_assignment

    if not people or not units:
        return 0.0
    table = numpy.array([[overlap(own, unit) for unit in units] for own in people])
    rows, columns = linear_sum_assignment(-table)
    return float(2 * table[rows, columns].sum() / (len(people) + len(units)))


def is_clause(parse: Parse) -> bool:
    """Whether a unit has a finite verb with its own subject."""
    for token in parse.tokens:
        verbs = [token, *parse.kids(token, "aux", "auxpass")]
        if any(verb.tag in FINITE for verb in verbs) and parse.kids(token, *SUBJECTS):
            return True
    return False


def windows(text: str, count: int) -> list[str]:
    """Evenly spaced windows of seven words: what word overlap alone is worth."""
    words = " ".join(text.replace("<t>", " ").replace("</t>", " ").split()).split()
    room = max(len(words) - WINDOW, 0)
    starts = [round(number * room / max(count - 1, 1)) for number in range(max(count, 1))]
    return [" ".join(words[start : start + WINDOW]) for start in starts]


def _sentences(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in marked_sentences(text)]


def _speed(data: Path, parser: Parser) -> float:
    """All references of REALSumm, four times over; the best of three, as other programs only slow it down."""
    references = 4 * read_lines(data / "lite2-3pyramid" / "REALSumm" / "references.txt")
    best: float = 0.0
    for _ in range(3):
        started = time.perf_counter()
        sentences = sum(len(found) for found in decompose_texts(references, parser))
        best = max(best, sentences / (time.perf_counter() - started))
    return best


def _unread(folder: Path, count: int) -> list[int]:
    """The places of the references that were not read while the rules were written."""
    folds = folder / "by_examples"
    if not folds.is_dir():
        return list(range(READ_LINES, count))
    read = {line for name in READ_FOLDS for line in read_lines(folds / name)}
    return [place for place, key in enumerate(read_lines(folder / "ids.txt")) if key not in read]


def read_lines(path: Path) -> list[str]:
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there. --data must hold lite2-3pyramid/REALSumm and PyrXSum.")
    lines = path.read_text(encoding="utf-8").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def read_units(line: str) -> list[str]:
    return [unit for unit in line.split("\t") if unit]

"""manage.py decompose IN.jsonl OUT.jsonl: sentences and automatic units of texts. No database needed."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from itertools import tee
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.allennlp.client import AllenNlp, AllenNlpFailed
from annotation.allennlp.decomposing import decompose_by_seed_rule
from annotation.decomposing.texts import DecomposedSentence, decompose_texts
from annotation.decomposing.units import FLAGS
from annotation.management.jsonl_files import checked_paths, read_lines, refuse_bad_lines, whole_file
from annotation.parses import Parser
from annotation.ranking.published import PublishedRegressor, UnknownRegressor, load_published
from annotation.ranking.regressor import Ranker, UnknownRanker, rate
from annotation.services.ranking import current_ranker


class Command(BaseCommand):
    help = 'Read lines {"id", "text"}, write lines {"id", "sentences": [{"text", "units", "easiness"}]}.'
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=Path, metavar="IN.jsonl")
        parser.add_argument("target", type=Path, metavar="OUT.jsonl")
        parser.add_argument("--rule", choices=("embedded", "seed"), default="embedded",
                            help="seed: the paper's own rule, by AllenNLP (set ALLENNLP_PYTHON)")  # fmt: skip
        parser.add_argument("--regressor", type=Path, metavar="FILE",
                            help="with --rule seed: a published regressor, for the easiness")  # fmt: skip

    def handle(self, *, source: Path, target: Path, rule: str, regressor: Path | None, **options: Any) -> None:
        from annotation.spacy_parser import WrongWeights, load_parser

        target = checked_paths(source, target)
        refuse_bad_lines(source, what_is_wrong)
        check_options(rule, regressor)
        try:
            parser = load_parser()
            ranker = current_ranker() if rule == "embedded" else None
            published = load_published(regressor) if regressor else None
        except (WrongWeights, UnknownRanker, UnknownRegressor) as error:
            raise CommandError(f"Nothing was written. {error}") from error
        quiet = not self.stderr.isatty()
        flags: Counter[str] = Counter()
        try:
            with whole_file(target) as write:
                if rule == "seed":
                    count = write_by_seed_rule(source, write, parser, published, quiet=quiet)
                else:
                    assert ranker is not None
                    count, flags = write_lines(source, write, parser, ranker, quiet=quiet)
        except AllenNlpFailed as error:
            raise CommandError(f"Nothing was written. {error}") from error
        by = f" Easiness by {ranker.signature}." if ranker else ""
        self.stdout.write(f"Written to {target}: {count:,} texts.{by}")
        for rule, number in sorted(flags.items()):
            self.stdout.write(f"Sentences kept whole, {rule}: {number:,}.")


def check_options(rule: str, regressor: Path | None) -> None:
    if rule == "embedded" and regressor:
        raise CommandError("--regressor belongs to --rule seed; the embedded rule has its own ranker (PYRAMID_RANKER).")
    needed = ["srl", *(["constituency"] if regressor else [])] if rule == "seed" else []
    if needed and not (settings.ALLENNLP_PYTHON and all(settings.ALLENNLP_MODELS[name] for name in needed)):
        names = " and ".join(["ALLENNLP_PYTHON", *(f"ALLENNLP_{name.upper()}" for name in needed)])
        raise CommandError(f"Set {names} (see .env.example), or use the embedded rule.")


def what_is_wrong(line: Any) -> str:
    if not isinstance(line, dict):
        return 'is no JSON object. Each line is {"id": …, "text": …}.'
    return "" if "id" in line and isinstance(line.get("text"), str) else 'needs an "id" and a "text".'


def write_lines(
    source: Path, write: Callable[[dict[str, Any]], None], parser: Parser, ranker: Ranker, *, quiet: bool
) -> tuple[int, Counter[str]]:
    """Decompose every line, in the order of the file. How many there were, and how many sentences no rule fits."""
    lines, texts = tee(line for _, line in read_lines(source))
    found = decompose_texts((line["text"] for line in texts), parser, measured=True)
    count, flags = 0, Counter[str]()
    for line, sentences in tqdm(zip(lines, found, strict=True), disable=quiet, unit=" texts"):
        units = [[(unit.text, unit.rule) for unit in sentence.units] for sentence in sentences]
        rated = rate(ranker, [sentence.features for sentence in sentences], units)
        described = [
            describe(line["text"], sentence, value) for sentence, (value, _) in zip(sentences, rated, strict=True)
        ]
        write({"id": line["id"], "sentences": described})
        count += 1
        flags.update(unit.rule for sentence in sentences for unit in sentence.units if unit.rule in FLAGS)
    return count, flags


def write_by_seed_rule(
    source: Path,
    write: Callable[[dict[str, Any]], None],
    parser: Parser,
    published: PublishedRegressor | None,
    *,
    quiet: bool,
) -> int:
    """The same by AllenNLP and the rule of the paper. Sentences are those after coreference was resolved."""
    models = AllenNlp(
        settings.ALLENNLP_PYTHON,
        settings.ALLENNLP_MODELS,
        settings.ALLENNLP_SECONDS,
        log=settings.VAR_DIR / "allennlp.log",
    )
    count = 0
    try:
        for _, line in tqdm(read_lines(source), disable=quiet, unit=" texts"):
            found = decompose_by_seed_rule(line["text"], models, parser, published)
            sentences = [{"text": one.text, "units": one.units, "easiness": one.easiness} for one in found]
            write({"id": line["id"], "sentences": sentences})
            count += 1
    finally:
        models.close()
    return count


def describe(text: str, sentence: DecomposedSentence, easiness: float) -> dict[str, Any]:
    """A sentence as JSON, with how easily its units stand in for those of a person."""
    return {
        "text": text[sentence.start : sentence.end],
        "units": [unit.text for unit in sentence.units],
        "easiness": round(easiness, 4),
    }

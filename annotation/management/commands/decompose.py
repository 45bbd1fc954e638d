"""manage.py decompose IN.jsonl OUT.jsonl: sentences and automatic units of texts. No database needed."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import tee
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.allennlp.client import AllenNlp, AllenNlpFailed
from annotation.allennlp.decomposing import decompose_by_seed_rule
from annotation.decomposing.texts import DecomposedSentence, decompose_texts
from annotation.decomposing.units import FLAGS
from annotation.parses import Parser
from annotation.ranking.published import PublishedRegressor, UnknownRegressor, load_published
from annotation.ranking.regressor import Ranker, UnknownRanker, rate
from annotation.services.ranking import current_ranker

MAX_SHOWN = 10


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

        if source.exists() and not source.is_file():
            raise CommandError(f"{source} is no file. It is read twice, so name a file, not a folder or a pipe.")
        if target.exists() and source.exists() and target.samefile(source):
            raise CommandError(f"{target} is the input itself. Name another file for the output.")
        target = target.resolve()  # a link is followed, not replaced
        if target.exists() and not target.is_file():
            raise CommandError(f"{target} is no file. Name a file for the output, not a folder, a pipe or a device.")
        problems = [f"{source}, line {number}: {what}" for number, what in bad_lines(source)]
        if problems:
            more = f"\n… and {len(problems) - MAX_SHOWN:,} more" if len(problems) > MAX_SHOWN else ""
            raise CommandError("Nothing was written.\n" + "\n".join(problems[:MAX_SHOWN]) + more)
        check_options(rule, regressor)
        try:
            parser = load_parser()
            ranker = current_ranker() if rule == "embedded" else None
            published = load_published(regressor) if regressor else None
        except (WrongWeights, UnknownRanker, UnknownRegressor) as error:
            raise CommandError(f"Nothing was written. {error}") from error
        try:
            with NamedTemporaryFile(
                "w", encoding="utf-8", dir=target.parent, prefix=".decompose-", delete=False
            ) as file:
                draft = Path(file.name)
                try:
                    quiet = not self.stderr.isatty()
                    flags: Counter[str] = Counter()
                    if rule == "seed":
                        count = write_by_seed_rule(source, file.write, parser, published, quiet=quiet)
                    else:
                        assert ranker is not None
                        count, flags = write_lines(source, file.write, parser, ranker, quiet=quiet)
                    file.flush()
                    draft.chmod(0o644)
                    draft.replace(target)  # appears when it is complete, or not at all
                finally:
                    draft.unlink(missing_ok=True)
        except AllenNlpFailed as error:
            raise CommandError(f"Nothing was written. {error}") from error
        except OSError as error:
            raise CommandError(f"{target} cannot be written: {error.strerror}. Name another file.") from error
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


def read_lines(source: Path) -> Iterator[tuple[int, Any]]:
    """Lines as (number, object); a line that is no JSON is None."""
    try:
        with source.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    yield number, json.loads(line)
                except (ValueError, RecursionError):
                    yield number, None
    except UnicodeDecodeError as error:
        raise CommandError(f"{source} is not UTF-8 ({error.reason}). Save it as UTF-8.") from error
    except OSError as error:
        raise CommandError(f"{source} cannot be read: {error.strerror}. Check the path.") from error


def bad_lines(source: Path) -> Iterator[tuple[int, str]]:
    for number, line in read_lines(source):
        if not isinstance(line, dict):
            yield number, 'is no JSON object. Each line is {"id": …, "text": …}.'
        elif "id" not in line or not isinstance(line.get("text"), str):
            yield number, 'needs an "id" and a "text".'
        elif has_lone_surrogates(line):
            yield number, "holds half a character (a lone surrogate). Write the file anew as UTF-8."


def has_lone_surrogates(line: dict[str, Any]) -> bool:
    """Whether a line holds what JSON can escape but no file can hold."""
    try:
        json.dumps(line, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def write_lines(
    source: Path, write: Callable[[str], object], parser: Parser, ranker: Ranker, *, quiet: bool
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
        write(json.dumps({"id": line["id"], "sentences": described}, ensure_ascii=False) + "\n")
        count += 1
        flags.update(unit.rule for sentence in sentences for unit in sentence.units if unit.rule in FLAGS)
    return count, flags


def write_by_seed_rule(
    source: Path, write: Callable[[str], object], parser: Parser, published: PublishedRegressor | None, *, quiet: bool
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
            write(json.dumps({"id": line["id"], "sentences": sentences}, ensure_ascii=False) + "\n")
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

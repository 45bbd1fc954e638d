"""IMPORT of our canonical form: one JSON object a line (docs/formats.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from annotation.readers.fields import BadRow, object_of, parse_example, parse_fold, parse_system
from annotation.readers.sources import Source, UnreadableSource, text_lines
from annotation.records import Problems, Record

FORMAT_VERSION = 1


def corpus_file(source: Source) -> str:
    """The one JSONL file of a source."""
    names = source.names()
    if len(names) == 1:
        return names[0]
    found = [name for name in names if name.endswith((".jsonl", ".ndjson"))]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} JSONL files ({', '.join(found[:5])})" if found else "no .jsonl file"
    raise UnreadableSource(f"{source.label} holds {what}; it must hold one, e.g. corpus.jsonl.")


def read_jsonl(source: Source, problems: Problems) -> Iterator[Record]:
    name = corpus_file(source)
    if source.size(name) == 0:
        raise UnreadableSource(f"{name} is empty. There is nothing to import.")
    found = False
    for number, line in text_lines(source, name, problems):
        if line is None or not line.strip():
            continue
        if not found and not line.lstrip().startswith("{"):
            raise UnreadableSource(
                f"{name} does not begin with a JSON object, so it is no JSONL. Each line must be one object: {{…}}. "
                "Is the format right?"
            )
        found = True
        try:
            record = parse_line(line, file=name, line=number)
        except BadRow as error:
            problems.add(name, number, str(error))
        else:
            if record is not None:
                yield record
    if not found and not problems:
        raise UnreadableSource(f"{name} holds only blank lines. There is nothing to import.")


def parse_line(text: str, *, file: str, line: int) -> Record | None:
    data = object_of(load_strictly(text), "the line")
    match data.get("type", "example"):
        case "example":
            return parse_example(data, file=file, line=line)
        case "system":
            return parse_system(data, file=file, line=line)
        case "fold":
            return parse_fold(data, file=file, line=line)
        case "corpus":
            _check_header(data)
            return None
        case other:
            raise BadRow(f"type must be example, system, fold or corpus, not {other!r:.40}.")


def _check_header(data: dict[str, Any]) -> None:
    if data.get("version") != FORMAT_VERSION:
        raise BadRow(
            f"version {data.get('version')!r:.20} of the format is not known here (known: {FORMAT_VERSION}). "
            "Update Pyramid Workbench."
        )


def load_strictly(text: str) -> Any:
    """JSON without its traps: no NaN, no endless nesting, no key given twice (the first would be lost)."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object_without_twins)
    except json.JSONDecodeError as error:
        raise BadRow(f"is not JSON ({error.msg} at character {error.pos + 1}). One line is one object.") from None
    except RecursionError:
        raise BadRow("is nested too deeply.") from None
    except BadRow:
        raise
    except ValueError:
        raise BadRow("holds a number with too many digits.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise BadRow(f"holds {name}, which is no JSON. Leave the field out if it was not measured.")


def _object_without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadRow(f"gives the field {key!r} twice.")
            seen.add(key)
    return data

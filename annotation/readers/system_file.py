"""The summaries of one system in one file: JSON lines, a CSV table, or a line for each example."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from annotation.readers.fields import BadRow, key_of, text_of

MAX_SHOWN = 10
MAX_SUMMARY = 50_000  # characters
MAX_BYTES = 32 * 1024**2
"""A file is read whole. More than that goes in by an import, which is a job of the worker."""
HOW = (
    'Use JSON lines {"id", "summary"}, a CSV table with the columns id and summary, or plain text with one summary a '
    "line in the order of the examples."
)


TOO_BIG = f"The file is larger than {MAX_BYTES // 1024**2} MB. Add the system by an import instead."


class BadSystemFile(Exception):
    """What is wrong with a file, the first problems together."""

    def __init__(self, problems: Sequence[str]) -> None:
        more = [f"… and {len(problems) - MAX_SHOWN:,} more"] if len(problems) > MAX_SHOWN else []
        super().__init__("\n".join([*problems[:MAX_SHOWN], *more]))


def read_system_file(name: str, content: bytes, examples: Sequence[str]) -> dict[str, str]:
    """Summaries by example. `examples` are the ids of all live examples in their order; each must have one summary."""
    if len(content) > MAX_BYTES:
        raise BadSystemFile([TOO_BIG])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSystemFile([f"{name} is not UTF-8 ({error.reason}). Save it as UTF-8."]) from error
    kind = name.lower().rpartition(".")[2]
    if kind in ("jsonl", "ndjson", "json") or _looks_like_json(text):
        return _checked(_json_rows(text), examples)
    if kind == "csv":
        return _checked(_csv_rows(text), examples)
    return _by_order(name, text, examples)


def _looks_like_json(text: str) -> bool:
    """Whether the first line is an object with a summary, whatever the file is called."""
    try:
        row = json.loads(text.lstrip().partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and set(row) == {"id", "summary"}


def check_summaries(given: dict[str, Any], examples: Sequence[str]) -> dict[str, str]:
    """The same for summaries that come as an object {id: summary}."""
    return _checked(((f"{key!r:.60}", key, value) for key, value in given.items()), examples)


def _json_rows(text: str) -> Iterator[tuple[str, Any, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):  # a summary may hold other line separators
        if not line.strip():
            continue
        where = f"Line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or set(row) != {"id", "summary"}:
            raise BadSystemFile([f'{where} is no object with "id" and "summary" alone. {HOW}'])
        yield where, row["id"], row["summary"]


def _csv_rows(text: str) -> Iterator[tuple[str, Any, Any]]:
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        if sorted(rows.fieldnames or []) != ["id", "summary"]:
            raise BadSystemFile([f"The first line must name the columns id and summary. {HOW}"])
        for row in rows:
            where = f"Line {rows.line_num}"
            if None in row or None in row.values():
                raise BadSystemFile([f"{where} has too many or too few cells."])
            yield where, row["id"], row["summary"]
    except csv.Error as error:
        raise BadSystemFile([f"This is no CSV ({error}). {HOW}"]) from error


def _by_order(name: str, text: str, examples: Sequence[str]) -> dict[str, str]:
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()  # a line break at the end, or none
    if len(lines) != len(examples):
        raise BadSystemFile([f"{name} has {len(lines):,} lines, and there are {len(examples):,} examples. {HOW}"])
    rows = ((f"Line {n}", key, line.rstrip("\r")) for n, (key, line) in enumerate(zip(examples, lines, strict=True), 1))
    return _checked(rows, examples)


def _checked(rows: Iterator[tuple[str, Any, Any]], examples: Sequence[str]) -> dict[str, str]:
    """Every example once, nothing else."""
    known, found, problems = set(examples), {}, []
    for where, key, value in rows:
        try:
            checked, summary = key_of(key, "the id"), text_of(value, "the summary")
        except BadRow as error:
            problems.append(f"{where}: {error}")
            continue
        if checked not in known:
            problems.append(f"{where}: there is no example {checked!r} here.")
        elif checked in found:
            problems.append(f"{where}: example {checked!r} was there before.")
        elif len(summary) > MAX_SUMMARY:
            problems.append(f"{where}: {len(summary):,} characters are no summary. At most {MAX_SUMMARY:,}, please.")
        else:
            found[checked] = summary
    missing = [key for key in examples if key not in found]
    if missing and not problems:
        problems.append(
            f"{len(missing):,} of {len(examples):,} examples have no summary, such as {missing[0]!r}. "
            "Where the system wrote nothing, give an empty one."
        )
    if not problems and not any(text.strip() for text in found.values()):
        problems.append("All summaries are empty. Is this the right file?")
    if problems:
        raise BadSystemFile(problems)
    return found

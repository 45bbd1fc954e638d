"""Files of JSON lines for commands without a database: checked whole before the work, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.core.management.base import CommandError

MAX_SHOWN = 10


def checked_paths(source: Path, target: Path) -> Path:
    """The target, with links followed; refuses what cannot be read twice or would be written over."""
    if source.exists() and not source.is_file():
        raise CommandError(f"{source} is no file. It is read twice, so name a file, not a folder or a pipe.")
    if target.exists() and source.exists() and target.samefile(source):
        raise CommandError(f"{target} is the input itself. Name another file for the output.")
    target = target.resolve()  # a link is followed, not replaced
    if target.exists() and not target.is_file():
        raise CommandError(f"{target} is no file. Name a file for the output, not a folder, a pipe or a device.")
    return target


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


def refuse_bad_lines(source: Path, what_is_wrong: Callable[[Any], str]) -> None:
    """Look at every line; `what_is_wrong` says what is, "" if nothing. The first problems are shown together."""
    problems = []
    for number, line in read_lines(source):
        problem = what_is_wrong(line)
        if not problem and has_lone_surrogates(line):
            problem = "holds half a character (a lone surrogate). Write the file anew as UTF-8."
        if problem:
            problems.append(f"{source}, line {number}: {problem}")
    if problems:
        more = f"\n… and {len(problems) - MAX_SHOWN:,} more" if len(problems) > MAX_SHOWN else ""
        raise CommandError("Nothing was written.\n" + "\n".join(problems[:MAX_SHOWN]) + more)


def has_lone_surrogates(line: dict[str, Any]) -> bool:
    """Whether a line holds what JSON can escape but no file can hold."""
    try:
        json.dumps(line, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


@contextmanager
def whole_file(target: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Write objects as lines to a file that appears when it is complete, or not at all."""
    try:
        with NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, prefix=".draft-", delete=False) as file:
            draft = Path(file.name)
            try:
                yield lambda row: (file.write(json.dumps(row, ensure_ascii=False) + "\n"), None)[1]
                file.flush()
                draft.chmod(0o644)
                draft.replace(target)
            finally:
                draft.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"{target} cannot be written: {error.strerror}. Name another file.") from error

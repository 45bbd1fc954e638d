"""The adapter that talks to AllenNLP: starts its process on demand, waits with a limit, starts it again if it dies."""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from annotation.parses import Parse

SERVER = Path(__file__).with_name("server.py")
TRIES = 2
GRACE = 5.0  # seconds for a process to end
MAX_LINE = 64 * 1024 * 1024


class AllenNlpFailed(Exception):
    """AllenNLP cannot do what it was asked. The message says what to do."""


@dataclass(slots=True)
class AllenNlp:
    """AllenNLP's models in a process of their own. Not for several threads at once.

    `python` is an interpreter with requirements-allennlp.txt; `models` names the archives by srl, coref, constituency.
    """

    python: str
    models: dict[str, str]
    seconds: float = 120.0
    command: Sequence[str] = ()  # instead of the server, for tests
    log: Path | None = None
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _answers: queue.Queue[bytes] = field(default_factory=queue.Queue, init=False)
    _number: int = field(default=0, init=False)

    def frames(self, parses: Sequence[Parse]) -> list[list[list[str]]]:
        """The frames of each sentence: a tag for each word, once for each verb."""
        sentences = [{"words": words_of(parse), "verbs": verbs_of(parse)} for parse in parses]
        found = self._ask("frames", sentences)
        sizes = [{len(tags) for tags in own} for own in found]
        self._check(all(own <= {len(parse.tokens)} for own, parse in zip(sizes, parses, strict=False)), "frames")
        self._check(len(found) == len(parses), "frames")
        return [[list(map(str, tags)) for tags in own] for own in found]

    def clusters(self, sentences: Sequence[Sequence[str]]) -> list[list[tuple[int, int]]]:
        """The coreference clusters of a document: spans of words with both ends, counted over its sentences."""
        found = self._ask("clusters", [{"words": list(words)} for words in sentences])
        last = sum(map(len, sentences))
        try:
            spans = [[(int(start), int(end)) for start, end in cluster] for cluster in found]
        except (TypeError, ValueError):
            spans = [[(1, 0)]]
        self._check(all(0 <= start <= end < last for cluster in spans for start, end in cluster), "clusters")
        return spans

    def trees(self, parses: Sequence[Parse]) -> list[str]:
        """The constituency tree of each sentence, in brackets."""
        tagged = [{"words": words_of(parse), "tags": [token.tag for token in parse.tokens]} for parse in parses]
        found = self._ask("trees", tagged)
        self._check(len(found) == len(parses), "trees")
        return [str(tree) for tree in found]

    def ready(self) -> list[str]:
        """Which models the process knows."""
        return list(self._exchange({"do": "ping"}).get("ready", []))

    def close(self) -> None:
        """End the process and whatever it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=GRACE)
        if process.stdin:
            with contextlib.suppress(OSError):
                process.stdin.close()  # not the output: the thread that reads it closes it at its end

    def _ask(self, what: str, sentences: Sequence[dict[str, Any]]) -> Any:
        found = self._exchange({"do": what, "sentences": list(sentences)})
        self._check(isinstance(found.get(what), list), what)
        return found[what]

    def _check(self, is_right: bool, what: str) -> None:
        if not is_right:
            raise AllenNlpFailed(f"AllenNLP's answer has no {what} as they were asked for. {self._advice()}")

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        """One line there and one back. A process that died is started once more; one that hangs is ended."""
        for left in reversed(range(TRIES)):
            try:
                found = self._once(request)
            except (OSError, EOFError) as error:
                self.close()
                if left:
                    continue
                raise AllenNlpFailed(f"AllenNLP's process ended ({error}). {self._advice()}") from error
            except queue.Empty as error:
                self.close()
                raise AllenNlpFailed(f"AllenNLP gave no answer within {self.seconds:g} seconds.") from error
            if "error" in found:
                raise AllenNlpFailed(f"AllenNLP: {found['error']}")
            return found
        raise AssertionError("every try ends above")

    def _once(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._started()
        self._number += 1
        line = json.dumps({"id": self._number, **request}).encode() + b"\n"
        # By a thread: a process that does not read would hold us at the pipe for ever.
        threading.Thread(target=_write, args=(process.stdin, line, self._answers), daemon=True).start()
        answer = self._answers.get(timeout=self.seconds)
        if not answer:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=GRACE)
            raise EOFError("it closed its output" if process.returncode is None else f"exit code {process.returncode}")
        try:
            found = json.loads(answer)
            if found["id"] != self._number:
                raise ValueError("the answer belongs to another question")
        except (ValueError, KeyError, TypeError) as error:
            self.close()
            raise AllenNlpFailed(f"AllenNLP's process answered nonsense ({error}). {self._advice()}") from error
        return dict(found)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        arguments = [part for name, path in self.models.items() if path for part in (f"--{name}", path)]
        command = list(self.command) or [self.python, str(SERVER), *arguments]
        try:
            self._process = self._launched(command)
        except OSError as error:
            raise AllenNlpFailed(f"{command[0]} cannot be started: {error.strerror}. Set ALLENNLP_PYTHON.") from error
        self._answers = queue.Queue()
        assert self._process.stdout is not None
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()
        return self._process

    def _launched(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """The process, in a session of its own, so that its children end with it. Its log begins anew."""
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "start_new_session": True}
        if self.log is None:
            return subprocess.Popen(command, bufsize=0, stderr=subprocess.DEVNULL, **pipes)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            return subprocess.Popen(command, bufsize=0, stderr=log, **pipes)

    def _advice(self) -> str:
        return f"Its log is {self.log}." if self.log else "Set a log to see why."


def _read(pipe: IO[bytes], answers: queue.Queue[bytes]) -> None:
    """Puts lines into the queue as they come; an empty one when the process has ended."""
    with io.BufferedReader(pipe) as lines:  # type: ignore[type-var]
        while line := lines.readline(MAX_LINE):
            answers.put(line)
    answers.put(b"")


def _write(pipe: IO[bytes], line: bytes, answers: queue.Queue[bytes]) -> None:
    """Writes a line, however slowly the other side reads; an empty answer if it cannot be written."""
    left = memoryview(line)
    try:
        while left:
            left = left[pipe.write(left) :]
    except (OSError, ValueError):
        answers.put(b"")


def words_of(parse: Parse) -> list[str]:
    return [token.text for token in parse.tokens]


def verbs_of(parse: Parse) -> list[int]:
    """Where AllenNLP looks for frames: verbs, auxiliaries as well."""
    return [token.index for token in parse.tokens if token.pos in ("VERB", "AUX")]

"""The adapter that talks to AllenNLP: starts its process on demand, waits with a limit, starts it again if it dies."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from annotation.parses import Parse

SERVER = Path(__file__).with_name("server.py")
TRIES = 2
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
        return self._ask("frames", sentences)

    def clusters(self, sentences: Sequence[Sequence[str]]) -> list[list[tuple[int, int]]]:
        """The coreference clusters of a document: spans of words with both ends, counted over its sentences."""
        found = self._ask("clusters", [{"words": list(words)} for words in sentences])
        return [[(start, end) for start, end in cluster] for cluster in found]

    def trees(self, parses: Sequence[Parse]) -> list[str]:
        """The constituency tree of each sentence, in brackets."""
        tagged = [{"words": words_of(parse), "tags": [token.tag for token in parse.tokens]} for parse in parses]
        return self._ask("trees", tagged)

    def ready(self) -> list[str]:
        """Which models the process knows."""
        return self._exchange({"do": "ping"})["ready"]

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()

    def _ask(self, what: str, sentences: Sequence[dict[str, Any]]) -> Any:
        found = self._exchange({"do": what, "sentences": list(sentences)})
        if what not in found:
            raise AllenNlpFailed(f"AllenNLP answered without {what}. {self._advice()}")
        return found[what]

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
        assert process.stdin is not None
        process.stdin.write(json.dumps({"id": self._number, **request}).encode() + b"\n")
        process.stdin.flush()
        line = self._answers.get(timeout=self.seconds)
        if not line:
            raise EOFError(f"exit code {process.wait()}")
        try:
            found = json.loads(line)
            if found["id"] != self._number:
                raise ValueError("the answer belongs to another question")
        except (ValueError, KeyError, TypeError) as error:
            self.close()
            raise AllenNlpFailed(f"AllenNLP's process answered nonsense ({error}). {self._advice()}") from error
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        arguments = [part for name, path in self.models.items() if path for part in (f"--{name}", path)]
        command = list(self.command) or [self.python, str(SERVER), *arguments]
        log = self.log.open("ab") if self.log else subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        except OSError as error:
            raise AllenNlpFailed(f"{command[0]} cannot be started: {error.strerror}. Set ALLENNLP_PYTHON.") from error
        finally:
            if not isinstance(log, int):
                log.close()
        self._answers = queue.Queue()
        assert self._process.stdout is not None
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()
        return self._process

    def _advice(self) -> str:
        return f"Its log is {self.log}." if self.log else "Set a log to see why."


def _read(pipe: IO[bytes], answers: queue.Queue[bytes]) -> None:
    """Puts lines into the queue as they come; an empty one when the process has ended."""
    try:
        while line := pipe.readline(MAX_LINE):
            answers.put(line)
    except ValueError:  # closed meanwhile
        pass
    answers.put(b"")


def words_of(parse: Parse) -> list[str]:
    return [token.text for token in parse.tokens]


def verbs_of(parse: Parse) -> list[int]:
    """Where AllenNLP looks for frames: verbs, auxiliaries as well."""
    return [token.index for token in parse.tokens if token.pos in ("VERB", "AUX")]

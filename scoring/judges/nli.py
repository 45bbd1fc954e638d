"""NLI models as judges: the one module of scores that knows transformers.

Each text is tokenised once. Pairs are de-duplicated, sorted by length and put into batches of about the same number of
tokens, so that little of the work goes into padding. The scores of a pair differ by about 1e-6 with the batch that it
happens to be in; they are rounded and kept, so a stored verdict never changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from scoring.entailment import Labels, read_labels, read_logits
from scoring.judging import Pair, UnknownJudge, Verdict

MAX_TOKENS = 400
"""Of both texts together (Zhang and Bansal 2021). What is longer is cut, the longer text first, and counted."""
TOKENS_PER_BATCH = {"cpu": 4_096, "cuda": 32_768}
READINGS = ("p", "p3c", "l3c", "p2c", "l2c")
# Files of a folder that change no verdict.
WORDS = (".md", ".txt.lock", ".gitattributes", ".gitignore")


class NliJudge:
    """A sequence-classification model with outputs for entailment, neutral and contradiction."""

    def __init__(self, name: str) -> None:
        from safetensors import SafetensorError
        from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

        self.name = name
        place, _, told = name.partition("#")
        # No code from a hub is ever run, and weights come as safetensors: a pickle could run code as well.
        safe: dict[str, Any] = {"trust_remote_code": False, "local_files_only": is_offline()}
        try:
            config = AutoConfig.from_pretrained(place, **safe)
            safe["revision"] = _commit(place, config)  # or the weights could come from a later one
            tokenizer = AutoTokenizer.from_pretrained(place, use_fast=True, **safe)
            self.labels = _labels(config, told, name)
            model, report = AutoModelForSequenceClassification.from_pretrained(
                place, use_safetensors=True, output_loading_info=True, **safe
            )
        except UnknownJudge:
            raise
        except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
            raise UnknownJudge(
                f"The model {place} cannot be loaded ({_first_line(error)}). Name a folder with config.json, tokenizer "
                f'and model.safetensors, a model of a hub that can be reached from here, or the judge "embedded".'
            ) from error
        if not getattr(tokenizer, "is_fast", False):
            raise UnknownJudge(f"The model {place} has no fast tokenizer (tokenizer.json). Convert its own first.")
        if report["missing_keys"]:
            # They would be filled with random numbers, and the verdicts be kept for ever.
            missing = ", ".join(sorted(report["missing_keys"])[:3])
            raise UnknownJudge(f"The model {place} was not trained for NLI: it lacks {missing}. Name another.")
        self.device = _device()
        self.model = model.eval().to(self.device)
        self.pad = tokenizer.pad_token_id or 0
        self.max_tokens = min(MAX_TOKENS, _longest(config))
        self.tokens = tokenizer.backend_tokenizer
        self.tokens.no_padding()
        self.takes_types = "token_type_ids" in tokenizer.model_input_names
        self.revision = _revision(place, config, told)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        # Nothing is in an empty summary; a model would guess.
        found = {pair: self._nothing() for pair in pairs if not pair.summary.strip()}
        inputs = self._inputs([pair for pair in dict.fromkeys(pairs) if pair not in found])
        for batch in batches_by_tokens(inputs, TOKENS_PER_BATCH[self.device]):
            for (pair, _, cut), logits in zip(batch, self._logits([item for _, item, _ in batch]), strict=True):
                found[pair] = read_logits(logits, self.labels, was_truncated=cut)
        return [found[pair] for pair in pairs]

    @property
    def readings(self) -> tuple[str, ...]:
        return tuple(name for name in READINGS if getattr(self._nothing(), name) is not None)

    def _nothing(self) -> Verdict:
        if self.labels.contradiction is None:
            return Verdict(p=0.0, p2c=0.0, l2c=0)
        return Verdict(p=0.0, p3c=0.0, l3c=0, p2c=0.0, l2c=0)

    def has_seen(self, unit: str) -> bool:
        return False  # nobody can tell for a model from elsewhere

    def _inputs(self, pairs: Sequence[Pair]) -> list[tuple[Pair, Any, bool]]:
        """Pairs with their tokens, and whether some had to be cut off."""
        self.tokens.no_truncation()
        texts = list(dict.fromkeys(text for pair in pairs for text in (pair.summary, pair.unit)))
        encoded = dict(zip(texts, self.tokens.encode_batch(texts, add_special_tokens=False), strict=True))
        special = self.tokens.num_special_tokens_to_add(True)
        self.tokens.enable_truncation(self.max_tokens, strategy="longest_first")
        found = []
        for pair in pairs:
            summary, unit = encoded[pair.summary], encoded[pair.unit]
            is_cut = len(summary.ids) + len(unit.ids) + special > self.max_tokens
            found.append((pair, self.tokens.post_process(summary, unit), is_cut))
        return found

    def _logits(self, batch: Sequence[Any]) -> list[list[float]]:
        import torch

        width = max(len(item.ids) for item in batch)
        fields = {"input_ids": [_padded(item.ids, width, self.pad) for item in batch]}
        fields["attention_mask"] = [_padded(item.attention_mask, width, 0) for item in batch]
        if self.takes_types:
            fields["token_type_ids"] = [_padded(item.type_ids, width, 0) for item in batch]
        tensors = {name: torch.tensor(rows, device=self.device) for name, rows in fields.items()}
        with torch.inference_mode():
            logits: list[list[float]] = self.model(**tensors).logits.float().cpu().tolist()
        return logits


def _padded(values: Sequence[int], width: int, filler: int) -> list[int]:
    return [*values, *[filler] * (width - len(values))]


def batches_by_tokens(inputs: Sequence[tuple[Pair, Any, bool]], budget: int) -> Iterator[list[tuple[Pair, Any, bool]]]:
    """Inputs sorted by length, longest first, in batches of at most so many tokens with their padding."""
    batch: list[tuple[Pair, Any, bool]] = []
    for item in sorted(inputs, key=lambda item: -len(item[1].ids)):
        widest = len(batch[0][1].ids) if batch else len(item[1].ids)
        if batch and widest * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


@cache
def load_nli_judge(name: str) -> NliJudge:
    """A model, loaded once per process."""
    return NliJudge(name)


def is_offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}


def _labels(config: Any, told: str, name: str) -> Labels:
    names = dict(enumerate(told.split("."))) if told else {int(place): text for place, text in config.id2label.items()}
    if len(names) != config.num_labels:
        raise UnknownJudge(f"{name} names {len(names)} labels, but the model has {config.num_labels} outputs.")
    return read_labels(names, name.partition("#")[0])


def _longest(config: Any) -> int:
    """How many tokens the model can read. RoBERTa counts its positions from 2."""
    positions = int(getattr(config, "max_position_embeddings", MAX_TOKENS) or MAX_TOKENS)
    return positions - 2 if "roberta" in str(config.model_type) else positions


def _commit(place: str, config: Any) -> str | None:
    """The commit of a model of the hub; None for a folder. One without could be another tomorrow."""
    if Path(place).is_dir():
        return None
    commit = getattr(config, "_commit_hash", None)
    if not commit:
        raise UnknownJudge(f"The hub does not tell the revision of {place}. Download it, and name the folder.")
    return str(commit)


def _revision(place: str, config: Any, told: str) -> str:
    """A digest of all that could change a verdict: the commit or the files of a folder, and how we read them."""
    content = sha256(f"{MAX_TOKENS} {told} {_commit(place, config)}".encode())
    if Path(place).is_dir():
        for path in sorted(Path(place).iterdir()):
            if path.is_file() and not path.name.endswith(WORDS):
                with path.open("rb") as file:
                    content.update(path.name.encode() + file_digest(file, "sha256").digest())
    return content.hexdigest()[:12]


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]

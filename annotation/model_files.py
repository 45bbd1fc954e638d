"""Files of trained trees: written whole or not at all, read with a plain word for whatever is wrong with one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def write_model(path: Path, content: dict[str, Any], booster: Any) -> None:
    """Write the trees of XGBoost with what belongs to them."""
    whole = {**content, "booster": json.loads(bytes(booster.save_raw("json")))}
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(json.dumps(whole, separators=(",", ":")) + "\n", encoding="utf-8")
        draft.replace(path)  # a worker that reads meanwhile sees the old one or the new one
    finally:
        draft.unlink(missing_ok=True)


def read_booster(content: dict[str, Any]) -> Any:
    """The trees of a file."""
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(json.dumps(content["booster"]).encode()))
    return booster


@contextmanager
def refusing(path: Path, what: str, cure: str, refusal: type[ValueError]) -> Iterator[None]:
    """Whatever goes wrong while a file is read becomes a refusal that says the way out."""
    import xgboost

    try:
        yield
    except refusal:
        raise
    except (OSError, KeyError, TypeError, ValueError, xgboost.core.XGBoostError) as error:
        why = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise refusal(f"{path} is no {what} ({why}). {cure}") from error

"""Judges by name: the embedded one, and any NLI model by hub name or folder."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from scoring.judging import Judge, UnknownJudge
from scoring.options import EMBEDDED, HUMAN

__all__ = ["EMBEDDED", "open_judge"]


def open_judge(name: str) -> Judge:
    """The judge of a name, loaded once per process. Only workers and commands call this: it loads models."""
    if not name:
        raise UnknownJudge('Name a judge: "embedded", or an NLI model by hub name or folder.')
    if name == HUMAN or name.startswith(f"{HUMAN}+"):
        raise UnknownJudge('"human" stands for the labels of a project: manage.py score knows it. Name a judge here.')
    if name == EMBEDDED:
        from annotation.spacy_parser import WrongWeights
        from scoring.judges.embedded import load_embedded_judge
        from scoring.presence.head import UnknownHead

        try:
            return load_embedded_judge(Path(settings.JUDGE_HEAD) if settings.JUDGE_HEAD else None)
        except (WrongWeights, UnknownHead) as error:
            raise UnknownJudge(str(error)) from error
    from scoring.judges.nli import load_nli_judge

    return load_nli_judge(name)

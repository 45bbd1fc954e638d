"""Quality curves: the project's own if there is one, else the shipped one of the corpus that it is most like."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.models import Project, RatioCurve
from annotation.services.auditing import record_audit

SHIPPED = Path(__file__).resolve().parent.parent / "planning" / "shipped"
ONE_SENTENCE = 1.5
"""References of fewer sentences are like PyrXSum's, which have one each; longer ones are like REALSumm's."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve and whether it was measured on the project itself."""

    content: dict[str, Any]
    is_own: bool

    @property
    def signature(self) -> str:
        return str(self.content["signature"])


@cache
def shipped_curves() -> dict[str, dict[str, Any]]:
    found = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(SHIPPED.glob("*.json")))
    return {content["corpus"]: content for content in found}


def curve_for(project: Project, *, sentences: int, references: int) -> Curve:
    """The newest curve of a project itself, or a shipped one."""
    own = RatioCurve.objects.filter(project=project).order_by("-pk").first()
    if own is not None:
        return Curve(own.content, is_own=True)
    like = "PyrXSum" if references and sentences / references < ONE_SENTENCE else "REALSumm"
    return Curve(shipped_curves()[like], is_own=False)


@transaction.atomic
def store_curve(project: Project, content: dict[str, Any], *, now: dt.datetime) -> RatioCurve:
    """Keep a curve of a project; the newest one is shown."""
    curve = RatioCurve.objects.create(project=project, signature=content["signature"], content=content, created_at=now)
    record_audit("measure curve", project, target=content["signature"], now=now)
    return curve

"""A small project, and a judge that needs no model."""

from __future__ import annotations

import pytest

from annotation import models
from annotation.services.importing import import_corpus
from scoring.services import score_job
from tests.conftest import NOW
from tests.scoring.judges import WordJudge


@pytest.fixture
def judge(monkeypatch) -> WordJudge:
    judge = WordJudge()
    monkeypatch.setattr(score_job, "open_judge", lambda name: judge)
    return judge


@pytest.fixture
def project(mini) -> models.Project:
    import_corpus(mini, corpus_format="lite2-3pyramid", project_name="Mini", now=NOW)
    return models.Project.objects.get()

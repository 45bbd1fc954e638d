"""Projects that can be planned, without a parser or a ranker."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from annotation import models
from annotation.services.freezing import freeze_plan, newest_plan
from annotation.services.queue import claim_next
from annotation.services.writing import submit
from annotation.writing.checks import WARNINGS
from annotation.writing.content import read_content
from tests.conftest import NOW
from tests.factories import (
    ExampleFactory,
    ProjectFactory,
    RankingFactory,
    ReferenceFactory,
    SentenceFactory,
    SummaryFactory,
    SystemFactory,
    UnitFactory,
)


def plannable(
    *, examples: int = 4, sentences: int = 3, systems: int = 2, scus: bool = False, slug: str = "plan"
) -> models.Project:
    """Examples of one reference, each sentence ranked and with an STU; the later in the corpus, the easier."""
    project = ProjectFactory(name=f"Project {slug}", slug=slug)
    own = [SystemFactory(project=project, name=f"system{number}") for number in range(systems)]
    total = examples * sentences
    for number in range(examples):
        example = ExampleFactory(project=project, key=f"e{number}", position=number + 1)
        texts = [
            f"The mill number {number} of place {place} shut in the year {1900 + place}." for place in range(sentences)
        ]
        reference = ReferenceFactory(example=example, key="r", position=1, text=" ".join(texts))
        start = 0
        for place, text in enumerate(texts):
            sentence = SentenceFactory(
                reference=reference, position=place + 1, start=start, end=start + len(text), text=text
            )
            start += len(text) + 1
            rank = number * sentences + place
            RankingFactory(sentence=sentence, easiness=round((rank + 1) / (total + 1), 4))
            UnitFactory(
                example=example, kind="stu", key=f"stu{place}", position=place + 1, text=f"A mill {place} shut.",
                reference=reference, sentence=sentence, provenance="derived", rule="clause",
            )  # fmt: skip
            if scus:
                UnitFactory(
                    example=example, kind="scu", key=f"scu{place}", position=place + 1, text=f"Mill {place} closed.",
                    reference=reference, sentence=sentence,
                )  # fmt: skip
        for system in own:
            SummaryFactory(example=example, system=system, text=f"Mills shut, says {system.name}.")
    return project


def freeze(project: models.Project, **given: Any) -> models.Plan:
    before = newest_plan(project)
    return freeze_plan(project, **{"after": before.number if before else 0, "now": NOW, **given})


def destinations(project: models.Project) -> list[str]:
    """Where the sentences go, hardest first."""
    plan = newest_plan(project)
    assert plan is not None
    return list(plan.sentences.order_by("rank").values_list("route", flat=True))


def hardest(project: models.Project) -> int:
    return models.Route.objects.get(project=project, rank=1).sentence_id


def write_next(project: models.Project, writer: models.User, *texts: str, now: dt.datetime = NOW) -> models.Submission:
    """The next sentence, written and handed in."""
    task = claim_next(project, writer, "write", now=now)
    assert task is not None
    assert task.lease_token is not None
    content = read_content({"units": [{"text": text, "overrides": list(WARNINGS)} for text in texts]})
    return submit(task.pk, writer, task.lease_token, key=uuid.uuid4(), content=content, now=now)

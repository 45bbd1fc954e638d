"""PLAN, the draft: the share, the assumptions and the pins that a lead tries out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum
from django.utils.translation import gettext as _

from annotation.batching import batched
from annotation.guidelines import GUIDELINES
from annotation.mixing import RULES
from annotation.models import Arm, Destination, Judgement, Pin, PlanDraft, Project, Route, Summary, User
from annotation.planning.assumptions import Assumptions, Observed, learn, read_assumptions
from annotation.planning.budget import Budget, PlanSentence, Spread, make_budget, spread_of
from annotation.planning.routing import STEPS, cuts
from annotation.services.auditing import record_audit
from annotation.services.routes import as_number, find_draft, refresh_routes, update_cut

SENTENCES_PER_QUERY = 500
MOST_PINNED_AT_ONCE = 5000
MOST_WRITERS = 2


class CannotPlan(Exception):
    """There is nothing to plan with. The message says what to do first."""


class BadDraft(ValueError):
    """A change that cannot be. The message says why."""


@dataclass(frozen=True, slots=True)
class WritingPolicy:
    """How sentences are written: the guideline, when a machine's drafts are shown, and how many people look again.

    Shares are thousandths of the sentences.
    """

    guideline: str
    arm: str
    control: int
    second_look: int

    def check(self) -> None:
        if self.guideline not in GUIDELINES:
            raise BadDraft(_("Known guidelines: %(names)s.") % {"names": ", ".join(GUIDELINES)})
        if self.arm not in Arm.values:
            raise BadDraft(_("Drafts are shown after the first own unit, before it, or never."))
        if not (0 <= self.control <= STEPS and 0 <= self.second_look <= STEPS):
            raise BadDraft(_("Write a percentage from 0 to 100."))


@dataclass(frozen=True, slots=True)
class PlanDesk:
    """A draft with all that a forecast needs. `assumed` is as a lead set it, `expected` as the project corrects it."""

    draft: PlanDraft
    budget: Budget
    assumed: Assumptions
    expected: Assumptions
    observed: Observed
    spread: Spread
    examples: int
    references: int
    systems: int
    is_flat: bool  # all sentences are equally easy


def default_assumptions() -> Assumptions:
    """The usual ones, with the floor of the organisation."""
    return replace(Assumptions(), floor=Decimal(settings.WAGE_FLOOR))


def assumptions_of(draft: PlanDraft) -> Assumptions:
    return read_assumptions(draft.assumptions, default_assumptions())


def expected_of(draft: PlanDraft, *, of_judging: bool = True) -> tuple[Observed, Assumptions]:
    """What the project has measured itself, and its assumptions as that corrects them.

    Whoever asks for the cost of writing alone spares the count of all judgements.
    """
    given = {**draft.observed, "writing_seconds": Decimal(str(draft.observed.get("writing_seconds", 0)))}
    if of_judging:
        given |= _measured_judging(draft)
    observed = Observed(**given)
    return observed, learn(assumptions_of(draft), observed)


def _measured_judging(draft: PlanDraft) -> dict[str, Any]:
    """Not kept with the draft: judging changes no route, so nothing would make it anew."""
    judged = Judgement.objects.filter(assignment__project=draft.project_id, seconds__gt=0).aggregate(
        n=Count("pk"), seconds=Sum("seconds")
    )
    return {"judgements": judged["n"], "judging_seconds": Decimal(str(round(judged["seconds"] or 0, 1)))}


def open_desk(project: Project, *, now: dt.datetime, pins: Mapping[int, str] | None = None) -> PlanDesk:
    """Everything behind the budget page, read afresh. `pins` are tried out, not stored."""
    draft = refresh_routes(project, now=now)
    rows = list(
        Route.objects.filter(project=project)
        .order_by("-rank")
        .values_list(
            "sentence__reference__example_id",
            "words",
            "stus",
            "pin",
            "has_scus",
            "done_slots",
            "easiness",
            "sentence__reference_id",
            "sentence_id",
        )
    )
    tried = pins or {}
    rows = [(*row[:3], tried.get(row[8], row[3]), *row[4:]) for row in rows]
    if not rows:
        raise CannotPlan(_("There is no sentence to plan. Import references first."))
    easiness = [row[6] for row in rows]
    if all(value is None for value in easiness):
        raise CannotPlan(_("The sentences are not ranked yet, so nobody can tell the easy ones. Split and decompose."))
    assumed = assumptions_of(draft)
    observed, expected = expected_of(draft)
    sentences = [
        PlanSentence(example, words, stus, pin, written_slots(draft, has_scus=has_scus, done_slots=done_slots))
        for example, words, stus, pin, has_scus, done_slots, *_rest in rows
    ]
    # From the rows at hand, so that somebody who pins meanwhile changes nothing here.
    free = [as_number(value) for value, row in zip(easiness, rows, strict=True) if not row[3]]
    summaries = _summaries(project)
    return PlanDesk(
        draft=draft,
        budget=make_budget(sentences, cuts(free, draft.rule), summaries, expected),
        assumed=assumed,
        expected=expected,
        observed=observed,
        spread=spread_of(expected, observed),
        examples=len({row[0] for row in rows}),
        references=len({row[7] for row in rows}),
        is_flat=len(set(free)) == 1 < len(free),
        systems=project.systems.filter(trashed_at__isnull=True).count(),
    )


def written_slots(draft: PlanDraft, *, has_scus: bool, done_slots: int) -> int:
    """How many writers a sentence needs no more: those who are through, or all of them if it came with SCUs."""
    if done_slots or not has_scus or draft.writes_again:
        return done_slots
    return MOST_WRITERS


def _summaries(project: Project) -> dict[int, int]:
    live = Summary.objects.filter(
        example__project=project, example__trashed_at__isnull=True, system__trashed_at__isnull=True
    )
    return dict(live.order_by().values_list("example").annotate(Count("pk")))


# --- changing it ---------------------------------------------------------------------------------------------------


@transaction.atomic
def change_draft(
    project: Project,
    *,
    now: dt.datetime,
    actor: User | None = None,
    share: int | None = None,
    assumptions: Mapping[str, Any] | None = None,
    rule: str | None = None,
    write_again: bool | None = None,
    policy: WritingPolicy | None = None,
) -> PlanDraft:
    """Store what a lead has set. What is not told stays; assumptions are checked and stored where they differ."""
    Project.objects.select_for_update().get(pk=project.pk)
    draft = find_draft(project, now=now)
    if share is not None:
        if not 0 <= share <= STEPS:
            raise BadDraft(_("The ratio goes from 2.0 to 3.0."))
        draft.share = share
    if rule is not None:
        if rule not in RULES:
            raise BadDraft(_("Known rules: %(rules)s.") % {"rules": ", ".join(RULES)})
        draft.rule = rule
    if write_again is not None:
        draft.write_again = write_again
    if policy is not None:
        policy.check()
        draft.guideline, draft.arm = policy.guideline, policy.arm
        draft.control, draft.second_look = policy.control, policy.second_look
    if assumptions is not None:
        usual = default_assumptions()
        asked = read_assumptions(assumptions, assumptions_of(draft))
        draft.assumptions = {
            name: value for name, value in asked.as_dict().items() if getattr(asked, name) != getattr(usual, name)
        }
    draft.changed_by, draft.changed_at = actor, now
    draft.save(
        update_fields=[
            "share", "rule", "write_again", "assumptions", "guideline", "arm", "control", "second_look", "changed_by",
            "changed_at",
        ]
    )  # fmt: skip  # never the basis: somebody may have forgotten the routes meanwhile
    update_cut(draft)
    return draft


@transaction.atomic
def pin_sentences(
    project: Project, sentences: Sequence[int], route: str, *, note: str = "", now: dt.datetime, actor: User | None
) -> int:
    """Send sentences to people or to STUs whatever the order says; "" takes pins away. Returns how many changed."""
    if route and route not in Destination.values:
        raise BadDraft(_("A sentence goes to people or to STUs."))
    if len(sentences) > MOST_PINNED_AT_ONCE:
        raise BadDraft(_("At most %(n)s sentences at once.") % {"n": f"{MOST_PINNED_AT_ONCE:,}"})
    Project.objects.select_for_update().get(pk=project.pk)
    draft = find_draft(project, now=now)
    changed = 0
    for batch in batched(sorted(set(sentences)), SENTENCES_PER_QUERY):
        rows = Route.objects.filter(project=project, sentence__in=batch)
        known = list(rows.exclude(pin=route).values_list("sentence_id", flat=True))
        Pin.objects.filter(sentence__in=known, removed_at__isnull=True).update(removed_at=now)
        if route:
            Pin.objects.bulk_create(
                Pin(sentence_id=key, route=route, note=note[:200], pinned_by=actor, pinned_at=now) for key in known
            )
        rows.filter(sentence__in=known).update(pin=route)
        changed += len(known)
    if changed:
        draft.changed_by, draft.changed_at = actor, now
        draft.save(update_fields=["changed_by", "changed_at"])
        update_cut(draft)
        action = "pin" if route else "unpin"
        record_audit(action, project, target=route or "none", actor=actor, now=now, detail={"sentences": changed})
    return changed

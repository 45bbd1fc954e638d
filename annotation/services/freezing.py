"""PLAN, frozen: the draft becomes an immutable plan, and its hard sentences become writing tasks."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.batching import batched
from annotation.decomposing.units import VERSION as DECOMPOSER
from annotation.models import (
    Arm,
    Destination,
    Pin,
    Plan,
    PlanDraft,
    PlannedSentence,
    Project,
    Ranking,
    Route,
    Task,
    TaskKind,
    TaskState,
    Unit,
    UnitKind,
    User,
)
from annotation.planning.budget import forecast
from annotation.planning.prices import price_slot
from annotation.planning.routing import route
from annotation.services.auditing import record_audit
from annotation.services.curves import curve_for
from annotation.services.drafts import PlanDesk, change_draft, open_desk, written_slots
from annotation.services.placing import current_units, owners_of, place_units, sentences_of
from annotation.services.routes import refresh_routes
from annotation.services.second_look import open_waiting
from annotation.spacy_parser import SpacyParser

ROWS_PER_QUERY = 1000
POLICY = ("guideline", "arm", "control", "second_look")
"""How a plan has its sentences written."""


class FrozenMeanwhile(Exception):
    """Somebody else froze a plan while this one was being made. The message says who and what to do."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a new plan does to the work that is there."""

    opened: int = 0  # writing tasks
    withdrawn: int = 0  # open tasks of sentences that STUs cover now
    kept: int = 0  # finished tasks; their units stay
    under_work: int = 0  # tasks that somebody has on the desk; they may be finished
    to_people: int = 0  # sentences that were with STUs in the plan before
    to_stus: int = 0

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


def newest_plan(project: Project) -> Plan | None:
    return Plan.objects.filter(project=project).order_by("-number").first()


def preview_changes(project: Project, desk: PlanDesk) -> Changes:
    """What freezing would do now."""
    return _changes(project, desk, newest_plan(project), _destinations(project, desk))


def _destinations(project: Project, desk: PlanDesk) -> dict[int, str]:
    rows = Route.objects.filter(project=project).values_list("sentence_id", "rank", "pin")
    return {sentence: route(rank, pin, desk.draft.cut) for sentence, rank, pin in rows}


def draft_token(draft: PlanDraft) -> str:
    """Names a draft as somebody sees it: another pin, price or order is another draft."""
    return sha256(f"{draft.basis}|{draft.changed_at.isoformat()}".encode()).hexdigest()[:16]


def _changes(project: Project, desk: PlanDesk, before: Plan | None, goes: dict[int, str]) -> Changes:
    tasks = _write_tasks(project)
    wanted = _wanted(project, desk, goes, tasks)
    live = {(task.sentence_id, task.slot) for task in tasks if task.state != TaskState.DONE}
    went = dict(before.sentences.values_list("sentence_id", "route")) if before else {}
    moved = Counter(where for key, where in goes.items() if key in went and went[key] != where)
    states = Counter(task.state for task in tasks)
    return Changes(
        opened=sum(slot not in live for slot in wanted),
        withdrawn=sum(task.state == TaskState.OPEN and (task.sentence_id, task.slot) not in wanted for task in tasks),
        kept=states[TaskState.DONE],
        under_work=states[TaskState.LEASED],
        to_people=moved[Destination.PEOPLE.value],
        to_stus=moved[Destination.STUS.value],
    )


def _write_tasks(project: Project) -> list[Task]:
    own = Task.objects.filter(project=project, kind=TaskKind.WRITE).exclude(state=TaskState.WITHDRAWN)
    return list(own.only("pk", "state", "sentence_id", "slot"))


def _wanted(
    project: Project, desk: PlanDesk, goes: dict[int, str], tasks: list[Task]
) -> dict[tuple[int | None, int], int]:
    """(sentence, slot) of all writing that is still to do, hardest first, with the words of the sentence.

    The forecast counts the same: each sentence that goes to people, once for every writer who is not through with it.
    """
    done = {(task.sentence_id, task.slot) for task in tasks if task.state == TaskState.DONE}
    rows = Route.objects.filter(project=project).order_by("rank")
    found: dict[tuple[int | None, int], int] = {}
    for sentence, words, has_scus, done_slots in rows.values_list("sentence_id", "words", "has_scus", "done_slots"):
        left = desk.assumed.writers - written_slots(desk.draft, has_scus=has_scus, done_slots=done_slots)
        if goes[sentence] == Destination.PEOPLE and left > 0:
            free = [slot for slot in range(1, 2 * desk.assumed.writers + 1) if (sentence, slot) not in done]
            found |= {(sentence, slot): words for slot in free[:left]}
    return found


@transaction.atomic
def freeze_plan(
    project: Project,
    *,
    after: int,
    now: dt.datetime,
    actor: User | None = None,
    share: int | None = None,
    seen: str | None = None,
) -> Plan:
    """Freeze the draft. `after` is the number of the plan that the lead saw as the newest one, 0 for none.

    `share` is where the slider stands, `seen` the draft that the lead had before their eyes: if somebody else has
    changed it meanwhile, nothing is frozen. Easy sentences get their STUs, hard ones become tasks. Finished work is
    kept, and so is what somebody has on the desk; open tasks that nobody needs any more are withdrawn.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    before = newest_plan(project)
    if (before.number if before else 0) != after:
        raise FrozenMeanwhile(_told_who(before))
    draft = refresh_routes(project, now=now)
    if seen is not None and seen != draft_token(draft):
        raise FrozenMeanwhile(_("The draft has changed since you saw it. Nothing was frozen. Look at it, then freeze."))
    if share is not None and share != draft.share:
        change_draft(project, share=share, now=now, actor=actor)
    desk = open_desk(project, now=now)
    goes = _destinations(project, desk)
    changes = _changes(project, desk, before, goes)
    rows = list(_planned(project, desk, goes))
    found = forecast(desk.budget, desk.draft.share)
    digest = _digest(desk, rows)
    if _is_same(before, desk, digest) and not changes.opened and not changes.withdrawn:
        raise FrozenMeanwhile(_("Nothing has changed since the newest plan, so nothing was frozen."))
    plan = Plan.objects.create(
        project=project,
        number=after + 1,
        share=desk.draft.share,
        effective=found.effective,
        rule=desk.draft.rule,
        guideline=desk.draft.guideline,
        arm=desk.draft.arm,
        control=desk.draft.control,
        second_look=desk.draft.second_look,
        ranker=_rankers(project)[:200],
        parser=_parsers(project, rows)[:200],
        assumptions={"set": desk.assumed.as_dict(), "expected": desk.expected.as_dict()},
        forecast=found.as_dict(),
        curve=curve_for(project, sentences=desk.budget.sentences, references=desk.references).signature,
        changes=changes.as_dict(),
        digest=digest,
        frozen_by=actor,
        frozen_at=now,
    )
    for batch in batched(rows, ROWS_PER_QUERY):
        for row in batch:
            row.plan = plan
        PlannedSentence.objects.bulk_create(batch)
    _move_tasks(project, desk, plan, goes, now)
    detail = {"ratio": found.ratio, "effective": found.effective_ratio, "cents": found.total, **changes.as_dict()}
    record_audit("freeze plan", project, target=f"plan {plan.number}", actor=actor, now=now, detail=detail)
    return plan


def _is_same(before: Plan | None, desk: PlanDesk, digest: str) -> bool:
    if before is None or before.digest != digest or before.assumptions["set"] != desk.assumed.as_dict():
        return False
    return all(getattr(before, name) == getattr(desk.draft, name) for name in POLICY)


def _rankers(project: Project) -> str:
    """Signatures of the rankers that have the last word on a sentence; usually one."""
    rows = Ranking.objects.filter(sentence__route__project=project).order_by("sentence", "revision")
    return " ".join(sorted(set(dict(rows.values_list("sentence_id", "ranker")).values())))


def _parsers(project: Project, rows: list[PlannedSentence]) -> str:
    """The rules that made the STUs of a plan, and the parser that they read with where they are ours.

    A plan that covers no sentence by STUs names those of the project, since sentences were ranked by them; a project
    without any names the rules that would make some.
    """
    keys = sorted({key for row in rows for key in row.stus})
    found: set[str] = set()
    for batch in batched(keys, ROWS_PER_QUERY):
        found |= _made_by(Unit.objects.filter(pk__in=batch))
    live = Unit.objects.current().filter(example__project=project, kind=UnitKind.STU)
    found = found or _made_by(live) or {DECOMPOSER}
    ours = any(name.startswith("embedded-") for name in found)
    return " ".join([*sorted(found), *([SpacyParser.signature] if ours else [])])


def _made_by(units: QuerySet[Unit]) -> set[str]:
    made = units.order_by().values_list("provenance", "guideline_version").distinct()
    return {version or str(provenance) for provenance, version in made}


def _told_who(plan: Plan | None) -> str:
    if plan is None:
        return _("The plan that you saw is not there any more. Look at this page again, then freeze.")
    who = (plan.frozen_by.get_full_name() or plan.frozen_by.username) if plan.frozen_by else _("A command")
    return _(
        "%(who)s froze plan %(number)s meanwhile. Yours was not frozen. Look at the changes, then freeze again."
    ) % {
        "who": who,
        "number": plan.number,
    }


def _planned(project: Project, desk: PlanDesk, goes: dict[int, str]) -> list[PlannedSentence]:
    owners = owners_of(project)
    units = current_units(project, [UnitKind.STU])
    placed = place_units(project, units, owners, sentences_of(owners))
    stus = {own.key: list(own.stus) for each in placed.values() for own in each}
    live = Pin.objects.filter(removed_at__isnull=True, sentence__route__project=project)
    notes = dict(live.values_list("sentence_id", "note"))
    found = []
    for own in Route.objects.filter(project=project).order_by("rank"):
        to_people = goes[own.sentence_id] == Destination.PEOPLE
        written = written_slots(desk.draft, has_scus=own.has_scus, done_slots=own.done_slots)
        left = max(desk.assumed.writers - written, 0) if to_people else 0
        found.append(
            PlannedSentence(
                sentence_id=own.sentence_id,
                rank=own.rank,
                easiness=own.easiness,
                route=goes[own.sentence_id],
                is_pinned=bool(own.pin),
                note=notes.get(own.sentence_id, ""),
                stus=[] if to_people else stus.get(own.sentence_id, []),
                mills=left * price_slot(own.words, desk.expected),
            )
        )
    return found


def _digest(desk: PlanDesk, rows: list[PlannedSentence]) -> str:
    """Names a plan by all that scores depend on."""
    content = [desk.draft.share, desk.draft.rule, [[row.sentence_id, row.route, row.stus] for row in rows]]
    return sha256(json.dumps(content).encode()).hexdigest()


def arm_of(sentence: int, draft: PlanDraft, seed: int) -> str:
    """When whoever writes a sentence sees drafts of a machine. Drawn by sentence, so that two writers are alike."""
    drawn = int(sha256(f"{seed}/{sentence}".encode()).hexdigest()[:8], 16) % 1000
    return Arm.NONE if drawn < draft.control else draft.arm


def _carry_open(desk: PlanDesk, plan: Plan, tasks: list[Task], wanted: dict[tuple[int | None, int], int]) -> None:
    """Open tasks that are still wanted are done by the new plan: its guideline, its prices, its drafts."""
    free = _still_open([task.pk for task in tasks if (task.sentence_id, task.slot) in wanted])
    kept = [task for task in tasks if task.pk in free]
    for task in kept:
        task.plan, task.arm = plan, arm_of(task.sentence_id or 0, desk.draft, plan.seed)
        task.mills = price_slot(wanted[task.sentence_id, task.slot], desk.expected)
    Task.objects.bulk_update(kept, ["plan", "arm", "mills"], batch_size=ROWS_PER_QUERY // 4)


def _still_open(keys: list[int]) -> set[int]:
    """Those that nobody has taken meanwhile, locked; one that somebody is taking is theirs as it is."""
    found: set[int] = set()
    for batch in batched(keys, ROWS_PER_QUERY):
        rows = Task.objects.filter(pk__in=batch, state=TaskState.OPEN)
        if connection.features.has_select_for_update_skip_locked:
            rows = rows.select_for_update(skip_locked=True)
        found |= set(rows.values_list("pk", flat=True))
    return found


def _move_tasks(project: Project, desk: PlanDesk, plan: Plan, goes: dict[int, str], now: dt.datetime) -> None:
    """Open what is lacking, withdraw what nobody needs, leave alone what is done or on somebody's desk."""
    tasks = _write_tasks(project)
    wanted = _wanted(project, desk, goes, tasks)
    not_needed = [
        task.pk for task in tasks if task.state == TaskState.OPEN and (task.sentence_id, task.slot) not in wanted
    ]
    for batch in batched(not_needed, ROWS_PER_QUERY):
        Task.objects.filter(pk__in=batch, state=TaskState.OPEN).update(state=TaskState.WITHDRAWN)
    _carry_open(desk, plan, [task for task in tasks if task.state == TaskState.OPEN], wanted)
    open_waiting(project, now=now)
    live = {(task.sentence_id, task.slot) for task in tasks if task.state != TaskState.DONE}
    ranks = dict(Route.objects.filter(project=project).values_list("sentence_id", "rank"))
    lacking = [(key, words) for key, words in wanted.items() if key not in live]
    for chunk in batched(lacking, ROWS_PER_QUERY):
        Task.objects.bulk_create(
            # The hardest first: there people are worth most.
            Task(
                project=project,
                kind=TaskKind.WRITE,
                sentence_id=sentence,
                slot=slot,
                plan=plan,
                priority=-ranks[sentence or 0],
                mills=price_slot(words, desk.expected),
                arm=arm_of(sentence or 0, desk.draft, plan.seed),
                created_at=now,
            )
            for (sentence, slot), words in chunk
        )

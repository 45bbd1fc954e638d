"""How a crowd batch stands: its HITs, its money, its pace, what an hour pays, and who works. Reads only."""

from __future__ import annotations

import datetime as dt
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Q, Sum

from annotation.aggregating.agreement import Alpha, alpha_with_interval
from annotation.models import Answer, Judgement, Person, Project, WorkerIdentity
from annotation.services.pseudonyms import name_judge
from mturk.models import (
    AssignmentStatus,
    BonusState,
    CrowdAssignment,
    CrowdBatch,
    CrowdBonus,
    CrowdHit,
    CrowdKind,
    HitState,
    PaidAction,
    PaidKind,
    Wish,
)
from mturk.pricing import hourly_cents
from mturk.services.deciding import failing, passing
from mturk.services.money import OVER

PACE_HOURS = 18
LAST_HOURS = 6
FEW_VOTES = 20
SIMULATED = "ASIMULATED"
CARELESS_FILLERS, CARELESS_AGREEMENT, RELIABLE_AGREEMENT = 0.1, 0.65, 0.8
LEAST_ERRORS = 2
PARTS = ("approved", "review", "taken", "open", "expired", "unsent")


@dataclass(frozen=True, slots=True)
class Money:
    """Where the money of a batch is, in cents, fees included."""

    paid: int
    paid_number: int
    held: int
    held_number: int
    open: int
    open_number: int
    bonuses: int
    reserved: int
    cap: int

    @property
    def spare(self) -> int:
        return self.cap - self.reserved


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker in one batch, under their pseudonym."""

    person: Person
    name: str
    assignments: int
    votes: int
    agreed: int
    compared: int
    present: int
    fillers: int
    filler_errors: int
    seconds: float | None
    hourly: int | None
    is_simulated: bool = False

    @property
    def agreement(self) -> float | None:
        return self.agreed / self.compared if self.compared and self.votes >= FEW_VOTES else None

    @property
    def present_rate(self) -> float | None:
        return self.present / self.votes if self.votes else None

    @property
    def reading(self) -> str:
        """few, reliable, careless or mixed: a reading of the numbers beside it, never a verdict on somebody."""
        if self.votes < FEW_VOTES or self.agreement is None:
            return "few"
        wrong = self.filler_errors / self.fillers if self.fillers else 0.0
        # One slip says nothing.
        is_blind = self.filler_errors >= LEAST_ERRORS and wrong > CARELESS_FILLERS
        if is_blind or self.agreement < CARELESS_AGREEMENT:
            return "careless"
        return "reliable" if self.agreement >= RELIABLE_AGREEMENT else "mixed"


@dataclass(slots=True)
class Figures:
    """All that the page of a batch shows."""

    parts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    failed: int = 0
    doubtful: int = 0
    hits: int = 0
    collected: int = 0
    wanted: int = 0
    to_approve: int = 0
    to_read: int = 0
    wishes: int = 0
    problems: int = 0
    money: Money | None = None
    median_s: float | None = None
    hourly: int | None = None
    slow_hourly: int | None = None
    pace: list[tuple[dt.datetime, int]] = field(default_factory=list)
    per_hour: float = 0.0
    full_at: dt.datetime | None = None
    alpha: Alpha | None = None
    workers: list[WorkerRow] = field(default_factory=list)
    next_approval: dt.datetime | None = None

    @property
    def widths(self) -> list[tuple[str, int, str, str]]:
        """Parts of the bar: name, number, where it begins and how wide it is, in percent."""
        found, start = [], 0.0
        for name, number in self.parts.items():
            wide = 100 * number / self.hits if self.hits else 0.0
            found.append((name, number, f"{start:.3g}%", f"{wide:.3g}%"))
            start += wide
        return found


def figures_of(batch: CrowdBatch, *, now: dt.datetime) -> Figures:
    """How a batch stands."""
    found = Figures()
    rows = list(
        CrowdAssignment.objects.filter(hit__crowd_batch=batch).select_related("hit", "worker").defer("raw", "whole")
    )
    _count_hits(found, batch, rows)
    found.collected = len(rows)
    found.to_approve, found.to_read = passing(batch).count(), failing(batch).count()
    found.wishes = sum(row.wish != Wish.NONE for row in rows)
    found.problems = sum(bool(row.problem) for row in rows)
    waiting = [row.auto_approve_at for row in rows if row.status == AssignmentStatus.SUBMITTED and row.auto_approve_at]
    found.next_approval = min(waiting, default=None)
    found.money = money_of(batch, rows)
    _measure_times(found, rows)
    _measure_pace(found, rows, now=now)
    if batch.kind == CrowdKind.PRESENCE:
        votes = _votes_of(batch)
        found.alpha = alpha_with_interval(_histograms(votes))
        found.workers = _workers(rows, votes)
    return found


def _count_hits(found: Figures, batch: CrowdBatch, rows: Sequence[CrowdAssignment]) -> None:
    waits = Counter(row.hit_id for row in rows if row.status == AssignmentStatus.SUBMITTED)
    have = Counter(row.hit_id for row in rows)
    for hit in CrowdHit.objects.filter(crowd_batch=batch).defer("page"):
        found.hits += 1
        found.wanted += hit.assignments
        found.failed += hit.state == HitState.FAILED
        found.doubtful += hit.state in (HitState.UNKNOWN, HitState.SENDING)
        found.parts[_part(hit, waits[hit.pk], have[hit.pk])] += 1


def _part(hit: CrowdHit, waits: int, have: int) -> str:
    if hit.state not in (HitState.LIVE, HitState.GONE):
        return "unsent"
    if waits:
        return "review"
    if hit.pending:
        return "taken"
    if hit.state == HitState.LIVE and hit.status not in OVER:
        return "open"
    return "expired" if have < hit.granted else "approved"


def money_of(batch: CrowdBatch, rows: Sequence[CrowdAssignment]) -> Money:
    """Paid, held for review, and open: together what is reserved."""
    paid = [row.hit.unit_cents for row in rows if row.status == AssignmentStatus.APPROVED]
    held = [row.hit.unit_cents for row in rows if row.status == AssignmentStatus.SUBMITTED]
    sums = CrowdBonus.objects.filter(assignment__hit__crowd_batch=batch).exclude(state=BonusState.FAILED)
    told = sums.aggregate(cents=Sum("cents"), fees=Sum("fee_cents"))
    bonuses = (told["cents"] or 0) + (told["fees"] or 0)
    unit = CrowdHit.objects.filter(crowd_batch=batch).first()
    rest = max(batch.reserved_cents - sum(paid) - sum(held) - bonuses, 0)
    number = round(rest / unit.unit_cents) if unit and unit.unit_cents else 0
    return Money(
        sum(paid), len(paid), sum(held), len(held), rest, number, bonuses, batch.reserved_cents, batch.cap_cents
    )


def _measure_times(found: Figures, rows: Sequence[CrowdAssignment]) -> None:
    timed = sorted((row.worked_s, row.hit.reward_cents) for row in rows if row.worked_s)
    if not timed:
        return
    found.median_s = statistics.median(seconds for seconds, _cents in timed)
    hourly = sorted(found_pay for seconds, cents in timed if (found_pay := hourly_cents(cents, seconds)) is not None)
    found.hourly = math.floor(statistics.median(hourly))
    found.slow_hourly = hourly[len(hourly) // 10]


def _measure_pace(found: Figures, rows: Sequence[CrowdAssignment], *, now: dt.datetime) -> None:
    hour = now.replace(minute=0, second=0, microsecond=0)
    at = [row.submitted_at for row in rows if row.submitted_at]
    counts = Counter(moment.replace(minute=0, second=0, microsecond=0) for moment in at)
    hours = [hour - dt.timedelta(hours=back) for back in reversed(range(PACE_HOURS))]
    found.pace = [(moment, counts[moment]) for moment in hours]
    last = sum(moment > now - dt.timedelta(hours=LAST_HOURS) for moment in at)
    found.per_hour = last / LAST_HOURS
    left = found.wanted - found.collected
    if found.per_hour and left > 0 and found.parts["open"]:
        found.full_at = now + dt.timedelta(hours=left / found.per_hour)


Vote = tuple[int, int, int, int, str]
"""Judge, example, unit, summary, answer."""


def _votes_of(batch: CrowdBatch) -> list[Vote]:
    rows = Judgement.objects.filter(assignment__crowd_assignment__hit__crowd_batch=batch).order_by()
    return list(rows.values_list("judge", "unit__example", "unit", "summary", "answer"))


def _histograms(votes: Sequence[Vote]) -> dict[Hashable, Counter[tuple[int, int]]]:
    tallies: defaultdict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0])
    for _judge, example, unit, summary, answer in votes:
        if answer != Answer.UNSURE:
            tallies[example, unit, summary][answer != Answer.PRESENT] += 1
    found: defaultdict[Hashable, Counter[tuple[int, int]]] = defaultdict(Counter)
    for (example, _unit, _summary), (yes, no) in tallies.items():
        found[example][yes, no] += 1
    return dict(found)


def _workers(rows: Sequence[CrowdAssignment], votes: Sequence[Vote]) -> list[WorkerRow]:
    """Workers of a batch, those with most votes first. Agreement is with the majority of the others on each unit."""
    pairs: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for _judge, _example, unit, summary, answer in votes:
        if answer != Answer.UNSURE:
            pairs[unit, summary][answer == Answer.PRESENT] += 1
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for judge, _example, unit, summary, answer in votes:
        if answer == Answer.UNSURE:
            continue
        is_present = answer == Answer.PRESENT
        no, yes = pairs[unit, summary]
        yes, no = yes - is_present, no - (not is_present)
        counts[judge]["votes"] += 1
        counts[judge]["present"] += is_present
        counts[judge]["compared"] += yes != no
        counts[judge]["agreed"] += yes != no and (yes > no) is is_present
    people: defaultdict[Person, list[CrowdAssignment]] = defaultdict(list)
    for row in rows:
        people[row.worker].append(row)
        for place, asked in enumerate(row.hit.page.get("rows", ()), start=1):
            said = (row.answers or {}).get(f"u{place}")
            if asked["unit"] is None and said:
                counts[row.worker_id]["fillers"] += 1
                counts[row.worker_id]["wrong"] += said == Answer.PRESENT
    # The exchange names them so; that is all a requester can know of them.
    identities = WorkerIdentity.objects.filter(person__in=people, name__startswith=SIMULATED)
    simulated = set(identities.values_list("person", flat=True))
    found = [_worker(person, own, counts[person.pk], simulated) for person, own in people.items()]
    return sorted(found, key=lambda row: (-row.votes, row.name))


def _worker(
    person: Person, own: Sequence[CrowdAssignment], counts: Counter[str], simulated: Collection[int]
) -> WorkerRow:
    timed = [
        (row.worked_s, row.hit.reward_cents, len(row.hit.page.get("rows", ())) or 1) for row in own if row.worked_s
    ]
    spent = sum(seconds for seconds, _cents, _rows in timed if seconds)
    statements = sum(number for _seconds, _cents, number in timed)
    return WorkerRow(
        person, name_judge(person), len(own), counts["votes"], counts["agreed"], counts["compared"], counts["present"],
        counts["fillers"], counts["wrong"], spent / statements if statements else None,
        hourly_cents(sum(cents for _seconds, cents, _rows in timed), spent),
        is_simulated=person.pk in simulated,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A batch in the list: how far it is, and its money."""

    batch: CrowdBatch
    hits: int
    live: int
    collected: int
    wanted: int
    waiting: int
    paid: int

    @property
    def share(self) -> float:
        return self.collected / self.wanted if self.wanted else 0.0


def list_crowd_batches(project: Project) -> list[BatchLine]:
    """All crowd batches of a project, newest first."""
    found = []
    for batch in CrowdBatch.objects.filter(project=project).select_related("batch").order_by("-number"):
        hits = CrowdHit.objects.filter(crowd_batch=batch).aggregate(
            n=Count("pk"), live=Count("pk", filter=Q(state__in=(HitState.LIVE, HitState.GONE))), all=Sum("assignments")
        )
        rows = CrowdAssignment.objects.filter(hit__crowd_batch=batch).aggregate(
            n=Count("pk"), waiting=Count("pk", filter=Q(status=AssignmentStatus.SUBMITTED, wish=Wish.NONE))
        )
        pays = PaidAction.objects.filter(crowd_batch=batch, kind__in=(PaidKind.APPROVE, PaidKind.BONUS))
        paid = pays.aggregate(n=Sum("cents"))["n"] or 0
        found.append(BatchLine(batch, hits["n"], hits["live"], rows["n"], hits["all"] or 0, rows["waiting"], paid))
    return found

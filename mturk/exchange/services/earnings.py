"""What a worker has earned, from the ledger and the assignments."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, QuerySet, Sum

from mturk.exchange.models import HANDED_IN, AssignmentState, HitAssignment, LineKind, Message, Worker

MOST_SHOWN = 100


@dataclass(frozen=True)
class Earnings:
    """Cents of one worker. `owed` is what was approved or given as a bonus and not yet paid out."""

    waiting: int
    approved: int
    bonuses: int
    paid_out: int
    handed_in: int
    rejected: int

    @property
    def earned(self) -> int:
        return self.approved + self.bonuses

    @property
    def owed(self) -> int:
        return self.earned - self.paid_out


def earnings_of(worker: Worker) -> Earnings:
    lines = dict(worker.lines.order_by().values_list("kind").annotate(total=Sum("cents")))
    states = dict(worker.assignments.order_by().values_list("state").annotate(number=Count("pk")))
    waiting = worker.assignments.filter(state=AssignmentState.SUBMITTED).aggregate(
        total=Sum("hit__hit_type__reward_cents")
    )
    return Earnings(
        waiting=waiting["total"] or 0,
        approved=-lines.get(LineKind.PAY, 0),
        bonuses=-lines.get(LineKind.BONUS, 0),
        paid_out=-lines.get(LineKind.PAYOUT, 0),
        handed_in=sum(states.get(state, 0) for state in HANDED_IN),
        rejected=states.get(AssignmentState.REJECTED, 0),
    )


def work_of(worker: Worker) -> QuerySet[HitAssignment]:
    """The newest that a worker has handed in."""
    done = worker.assignments.filter(state__in=HANDED_IN).select_related("hit__hit_type__requester")
    return done.prefetch_related("bonuses").order_by("-submitted_at", "-pk")[:MOST_SHOWN]


def messages_for(worker: Worker) -> QuerySet[Message]:
    """The newest that requesters wrote to a worker."""
    return worker.messages.select_related("requester").order_by("-pk")[:MOST_SHOWN]

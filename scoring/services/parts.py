"""Parts of a score run: pieces that any worker on any machine can take.

The worker that has the run cuts it into parts and works on them; others help, each on parts of its own. Whoever takes a
part claims its row with a token and shows by a heartbeat that it lives. A part without one is taken again. Verdicts are
kept by content and stored together with the mark that the part is done, so doing a part twice changes nothing.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Sequence

from django.db import transaction
from django.db.models import F, Max, Sum
from django.db.models.functions import Now

from annotation.batching import batched
from annotation.models import Run, RunState, Summary, Unit
from annotation.services.jobs import Heart, stale_time
from scoring.judging import Judge, Pair, Verdict
from scoring.models import JudgeVersion, PartState, ScorePart
from scoring.services.verdicts import store_verdicts, stored_verdicts
from scoring.signatures import text_digest

logger = logging.getLogger(__name__)

PAIRS_PER_PART = 256
MAX_ATTEMPTS = 5
POLL_SECONDS = 0.5
Wanted = tuple[int, Sequence[int]]
"""A summary and the units that are to be judged in it, by id."""


class PartKeepsFailing(Exception):
    """Workers died over a part again and again."""


class PartTicket:
    """The right of one worker to do one part, as long as its heart beats."""

    def __init__(self, part: ScorePart) -> None:
        self.run_id, self.part_id, self.claim = part.run_id, part.pk, part.claim

    def beat(self) -> None:
        ScorePart.objects.filter(pk=self.part_id, claim=self.claim).update(heartbeat_at=Now())


def plan_parts(run: Run, version: JudgeVersion, wanted: Iterable[Wanted]) -> int:
    """Cut what is to be judged into parts, replacing those of an earlier try that were not done. Returns the pairs."""
    # Worked out before the transaction: on SQLite nobody else could write meanwhile.
    chunks = list(_chunks(wanted))
    with transaction.atomic():
        ScorePart.objects.filter(run=run).exclude(state=PartState.DONE).delete()
        # Those that are done may be any of the earlier ones: helpers do not go in order.
        number = ScorePart.objects.filter(run=run).aggregate(last=Max("number", default=0))["last"]
        parts = [
            ScorePart(
                run=run,
                number=number + place + 1,
                judge=version,
                wanted=[[summary, list(units)] for summary, units in chunk],
                pairs=sum(len(units) for _, units in chunk),
            )
            for place, chunk in enumerate(chunks)
        ]
        ScorePart.objects.bulk_create(parts, batch_size=200)
    return sum(part.pairs for part in parts)


def _chunks(wanted: Iterable[Wanted]) -> Iterable[list[Wanted]]:
    """Neighbours together: they share an example, so each text is read by the judge once."""
    chunk: list[Wanted] = []
    size = 0
    for summary, units in wanted:
        for some in batched(units, PAIRS_PER_PART):
            if chunk and size + len(some) > PAIRS_PER_PART:
                yield chunk
                chunk, size = [], 0
            chunk.append((summary, some))
            size += len(some)
    if chunk:
        yield chunk


def do_parts(run_id: int, judge: Judge, version: JudgeVersion, *, after_each: Callable[[], None]) -> None:
    """Work on open parts until there is none."""
    while part := _claim_part(run_id, version):
        try:
            with Heart(PartTicket(part)):
                _do_part(part, judge)
        except BaseException:
            ScorePart.objects.filter(pk=part.pk, claim=part.claim).update(state=PartState.OPEN, claim=None)
            raise
        after_each()


def finish_parts(run_id: int, judge: Judge, version: JudgeVersion, *, after_each: Callable[[], None]) -> None:
    """Work on parts and wait for those that others have, until all are done."""
    while True:
        do_parts(run_id, judge, version, after_each=after_each)
        free_dead_parts(run_id)
        left = ScorePart.objects.filter(run=run_id).exclude(state=PartState.DONE)
        if not left.exists():
            return
        time.sleep(POLL_SECONDS)  # others are at work; a lost one is found by its heartbeat
        after_each()


def free_dead_parts(run_id: int) -> None:
    """Open parts again whose worker died."""
    dead = ScorePart.objects.filter(run=run_id, state=PartState.CLAIMED, heartbeat_at__lt=stale_time())
    if dead.filter(attempt__gte=MAX_ATTEMPTS).exists():
        raise PartKeepsFailing
    dead.update(state=PartState.OPEN, claim=None)


def _claim_part(run_id: int, version: JudgeVersion) -> ScorePart | None:
    open_parts = ScorePart.objects.filter(run=run_id, judge=version, state=PartState.OPEN).order_by("number")
    while True:
        found = list(open_parts.values_list("pk", flat=True)[:8])
        if not found:
            return None
        for pk in found:
            claim = uuid.uuid4()
            # Conditional, so that two workers never have the same part.
            taken = ScorePart.objects.filter(pk=pk, state=PartState.OPEN, run__state=RunState.RUNNING).update(
                state=PartState.CLAIMED, claim=claim, heartbeat_at=Now(), attempt=F("attempt") + 1
            )
            part = ScorePart.objects.select_related("judge").filter(pk=pk, claim=claim).first() if taken else None
            if part is not None:  # else the run has just been planned anew
                return part
        if not Run.objects.filter(pk=run_id, state=RunState.RUNNING).exists():
            return None


def _do_part(part: ScorePart, judge: Judge) -> None:
    summaries = dict(Summary.objects.filter(pk__in=[row[0] for row in part.wanted]).values_list("pk", "text"))
    units = dict(Unit.objects.filter(pk__in={unit for row in part.wanted for unit in row[1]}).values_list("pk", "text"))
    digests = {text: text_digest(text) for text in (*summaries.values(), *units.values())}
    known = stored_verdicts(
        part.judge, [digests[text] for text in summaries.values()], [digests[text] for text in units.values()]
    )
    # The same texts may come up twice, from two systems that wrote the same.
    pairs = dict.fromkeys(
        Pair(summaries[summary], units[unit])
        for summary, own in part.wanted
        for unit in own
        if (digests[summaries[summary]], digests[units[unit]]) not in known
    )
    verdicts: list[Verdict] = judge.judge(list(pairs)) if pairs else []
    with transaction.atomic():
        store_verdicts(
            part.judge,
            (
                (digests[pair.summary], digests[pair.unit], verdict)
                for pair, verdict in zip(pairs, verdicts, strict=True)
            ),
        )
        ScorePart.objects.filter(pk=part.pk, claim=part.claim).update(state=PartState.DONE, claim=None, ended_at=Now())


def has_open_parts(run_id: int, *, more_than: int = 0) -> bool:
    return ScorePart.objects.filter(run=run_id, state=PartState.OPEN).count() > more_than


def pairs_done(run_id: int) -> int:
    done = ScorePart.objects.filter(run=run_id, state=PartState.DONE)
    return int(done.aggregate(n=Sum("pairs", default=0))["n"])


def pairs_per_second(run: Run) -> float | None:
    """How fast all workers together judge, from the parts that were done since the run was last begun."""
    if run.started_at is None:
        return None
    rows = ScorePart.objects.filter(run=run, state=PartState.DONE, ended_at__gte=run.started_at)
    done = [(ended, pairs) for ended, pairs in rows.order_by("ended_at").values_list("ended_at", "pairs") if ended]
    if len(done) < 2:
        return None
    seconds = (done[-1][0] - done[0][0]).total_seconds()
    return sum(pairs for _, pairs in done[1:]) / seconds if seconds > 0 else None

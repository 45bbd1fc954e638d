"""PUBLISH, before anything is sent: what a batch would ask and cost, a draft of it, and its confirmation."""

from __future__ import annotations

import datetime as dt
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.judging.showing import as_shown
from annotation.models import Batch, Project, Reference, Sheet, User
from annotation.services.auditing import record_audit
from annotation.services.crowd import CannotHandOver, crowd_questions, hand_to_crowd
from mturk.environments import Environment, confirmation_words, environment
from mturk.market import Market, MarketError
from mturk.models import (
    LATEST_APPROVAL,
    LONGEST,
    SHORTEST,
    BatchState,
    CrowdBatch,
    CrowdHit,
    CrowdKind,
    Template,
)
from mturk.presets import reward_of
from mturk.pricing import (
    Cost,
    dollars,
    fees_json,
    hourly_cents,
    least_reward,
    more_at_ten,
    price_line,
    read_fees,
)
from mturk.requirements import NAMED, Requirement, for_exchange, read_requirements
from mturk.services.asking import question_of
from mturk.services.money import lock_batch, reserve
from mturk.services.qualifying import check_requirements

ROWS = 2_000
STATEMENTS = 8
JUDGES_HERE = "Pyramid judges"
"""The qualification that stands in for a reputation on the exchange."""


class CannotPublish(ValueError):
    """The batch cannot go out like this. The message says what to change."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a lead asks for. Money in cents, times in seconds."""

    environment: str
    kind: str = CrowdKind.PRESENCE.value
    batch: int | None = None  # number of the batch of judging
    template: str = Template.EXTERNAL.value
    preset: str = ""
    title: str = ""
    description: str = ""
    keywords: str = ""
    rewards: list[dict[str, Any]] = field(default_factory=list)
    assignments: int = 3
    duration_s: int = 3_600
    lifetime_s: int = 604_800
    auto_approval_s: int = 259_200
    requirements: tuple[Requirement, ...] = ()
    consent: str = ""
    expected_s: int = 0
    cap_cents: int = 0

    def check(self) -> None:
        """Refuse what the protocol refuses, before anybody is asked."""
        for words, text, most in (
            (_("The title"), self.title, 128),
            (_("The description"), self.description, 2000),
        ):
            if not text.strip() or len(text) > most:
                raise CannotPublish(_("%(what)s needs 1 to %(n)s characters.") % {"what": words, "n": most})
        if len(self.keywords) > 1000:
            raise CannotPublish(_("The keywords may have at most 1,000 characters."))
        if self.kind not in CrowdKind.values or self.template not in Template.values:
            raise CannotPublish(_("There is no such kind of task."))
        if not all(SHORTEST <= seconds <= LONGEST for seconds in (self.duration_s, self.lifetime_s)):
            raise CannotPublish(_("Times must be between 30 seconds and a year."))
        if not 0 <= self.auto_approval_s <= LATEST_APPROVAL:
            raise CannotPublish(_("Work is approved by itself after 30 days at the latest."))
        if not self.rewards or any(not 1 <= group["cents"] <= 100_000 for group in self.rewards):
            raise CannotPublish(_("The reward must be between $0.01 and $1,000."))
        if self.assignments < 1:
            raise CannotPublish(_("Ask for at least one assignment."))


@dataclass(frozen=True, slots=True)
class Piece:
    """What a HIT would be: its target, its group and reward."""

    sheet: Sheet | None
    reference: Reference | None
    group: str
    reward_cents: int


@dataclass(slots=True)
class Preview:
    """A dry run: what would be published and cost, what stands in its way, and what to know."""

    place: Environment
    cost: Cost
    hourly: list[tuple[str, int | None]]  # cents an hour by group, None where nobody knows
    floor_cents: int
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    requirements: tuple[Requirement, ...] = ()
    balance_cents: int | None = None
    is_checked: bool = False  # the market was asked for the balance and the qualifications
    typed: str = ""

    @property
    def can_go(self) -> bool:
        return not self.problems


def floor_cents() -> int:
    """The least that an hour may pay, by the organisation."""
    return int(Decimal(settings.WAGE_FLOOR) * 100)


def dry_run(project: Project, wish: Wish, market: Market | None) -> Preview:
    """All that publishing would do, short of doing it. Without a market what only it knows is left out, and said."""
    wish.check()
    place = environment(wish.environment)
    batch = _judging_batch(project, wish)
    pieces = list(_pieces(project, wish, batch))
    if not pieces:
        raise CannotPublish(_("There is nothing to publish: no reference has text."))
    cost = price(pieces, wish, place)
    requirements = _requirements(wish, place)
    found = Preview(
        place=place,
        cost=cost,
        hourly=[(line.name, hourly_cents(line.reward_cents, wish.expected_s)) for line in cost.lines],
        floor_cents=floor_cents(),
        requirements=requirements,
        typed=confirmation_words(place, wish.title, cost.most),
    )
    _look_at_money(found, wish, batch)
    _look_at_pages(found, project, wish, pieces)
    _look_at_market(found, place, market)
    if batch is not None and batch.is_crowd:
        found.problems.append(_("Batch %(n)s is with the crowd already.") % {"n": batch.number})
    return found


def _requirements(wish: Wish, place: Environment) -> tuple[Requirement, ...]:
    return for_exchange(wish.requirements, name=JUDGES_HERE) if place.is_exchange else wish.requirements


def _look_at_money(found: Preview, wish: Wish, batch: Batch | None) -> None:
    if found.cost.total > wish.cap_cents:
        told = {"cost": dollars(found.cost.total), "cap": dollars(wish.cap_cents)}
        found.problems.append(_("It may cost %(cost)s, the cap is %(cap)s. Raise the cap, or ask for less.") % told)
    elif found.cost.most > wish.cap_cents:
        told = {"most": dollars(found.cost.most), "cap": dollars(wish.cap_cents)}
        found.warnings.append(
            _("With a further vote on every sheet it would be %(most)s. At the cap of %(cap)s nothing more is asked.")
            % told
        )
    for line in found.cost.lines:
        more = more_at_ten(line, found.place.fees)
        if more:
            found.warnings.append(
                _("Ten or more assignments for each HIT cost %(more)s more in fees. Nine do not.")
                % {"more": dollars(more)}
            )
        pays = hourly_cents(line.reward_cents, wish.expected_s)
        if pays is not None and pays < found.floor_cents:
            told = {
                "group": line.name, "pays": dollars(pays), "floor": dollars(found.floor_cents),
                "least": dollars(least_reward(found.floor_cents, wish.expected_s)),
            }  # fmt: skip
            found.warnings.append(
                _("%(group)s: %(pays)s an hour is under the floor of %(floor)s. A reward of %(least)s meets it.") % told
            )
    if not wish.expected_s:
        found.warnings.append(_("Nobody has told how long a HIT takes, so pay per hour is not known."))
    if batch is not None and not batch.is_adaptive and wish.assignments % 2 == 0:
        found.warnings.append(_("An even number of votes can tie, and a tie counts as not present. Take 3 or 5."))


def _look_at_pages(found: Preview, project: Project, wish: Wish, pieces: Sequence[Piece]) -> None:
    """Whether the market can carry and show the largest page."""
    place = found.place
    has_frame = bool(settings.EXCHANGE_FRAME_ORIGIN) or not settings.PRODUCTION
    if wish.template == Template.HTML and place.is_exchange and not has_frame:
        found.problems.append(
            _("The exchange shows pages that travel with a HIT from a second address only. Set EXCHANGE_FRAME_ORIGIN, "
              "or choose our page in a frame.")
        )  # fmt: skip
    pages = [_page(piece) for piece in pieces] if wish.template == Template.HTML else [{"text": "", "rows": []}]
    largest = max(pages, key=lambda page: len(str(page)))
    batch = CrowdBatch(
        project=project, kind=wish.kind, template=wish.template, environment=place.name, consent=wish.consent,
        expected_s=wish.expected_s, auto_approval_s=wish.auto_approval_s,
    )  # fmt: skip
    try:
        question_of(CrowdHit(pk=0, crowd_batch=batch, page=largest, reward_cents=pieces[0].reward_cents))
    except ValueError as error:
        found.problems.append(str(error))


def _look_at_market(found: Preview, place: Environment, market: Market | None) -> None:
    if place.warning:
        found.warnings.append(place.warning)
    if place.is_exchange and any(one.kind == NAMED and one.name == JUDGES_HERE for one in found.requirements):
        found.warnings.append(
            _("Nobody has a reputation on the exchange. The qualification “%(name)s” takes its place.")
            % {"name": JUDGES_HERE}
        )
    if market is None:
        found.warnings.append(_("The market was not asked: balance and qualifications are not checked."))
        return
    try:
        found.balance_cents = market.balance().available
        found.problems += check_requirements(place.name, found.requirements, market)
        found.is_checked = True
    except MarketError as error:
        found.warnings.append(_("The market cannot be asked now (%(why)s).") % {"why": error})
        return
    if found.balance_cents < found.cost.total:
        told = {"balance": dollars(found.balance_cents), "cost": dollars(found.cost.total)}
        found.warnings.append(
            _("The account has %(balance)s, this needs %(cost)s. Publishing would pause when it is used up.") % told
        )


def _judging_batch(project: Project, wish: Wish) -> Batch | None:
    if wish.kind == CrowdKind.WRITING:
        return None
    batch = Batch.objects.filter(project=project, number=wish.batch).first() if wish.batch else None
    if batch is None:
        raise CannotPublish(_("Choose a batch of judging. Leads open them on the page “Batches”."))
    if batch.closed_at is not None:
        raise CannotPublish(_("Batch %(n)s is closed. Open a new one.") % {"n": batch.number})
    if batch.is_adaptive and wish.assignments != 2:
        raise CannotPublish(_("An adaptive batch asks two, and a third where they differ. Ask for 2 assignments."))
    return batch


def _pieces(project: Project, wish: Wish, batch: Batch | None) -> Iterator[Piece]:
    if batch is None:
        rows = Reference.objects.filter(example__project=project, example__trashed_at__isnull=True)
        name, cents = reward_of(wish.rewards, "")
        for reference in rows.order_by("example__position", "position"):
            if reference.text.strip():
                yield Piece(None, reference, name, cents)
        return
    sheets = Sheet.objects.filter(batch=batch, after__isnull=True).select_related("summary__system")
    for sheet in sheets.order_by("pk").iterator(chunk_size=ROWS):
        name, cents = reward_of(wish.rewards, sheet.summary.system.name)
        if not cents:
            raise CannotPublish(_("%(system)s has no reward.") % {"system": sheet.summary.system.name})
        yield Piece(sheet, None, name, cents)


def price(pieces: Sequence[Piece], wish: Wish, place: Environment) -> Cost:
    """What HITs cost, by group. Votes that differ, or somebody who is unsure, can call for one more on each sheet."""
    groups = Counter((piece.group, piece.reward_cents) for piece in pieces)
    lines = tuple(
        price_line(name, hits=hits, assignments=wish.assignments, reward=reward, fees=place.fees)
        for (name, reward), hits in groups.items()
    )
    return Cost(lines, extra_per_hit=1 if wish.kind == CrowdKind.PRESENCE else 0)


@transaction.atomic
def create_draft(project: Project, wish: Wish, *, now: dt.datetime, actor: User | None) -> CrowdBatch:
    """Keep the settings of a batch. Nothing is published and no money is set aside until it is confirmed."""
    wish.check()
    place = environment(wish.environment)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    judged = _judging_batch(project, wish)
    last = CrowdBatch.objects.filter(project=project).aggregate(n=Max("number"))["n"] or 0
    batch = CrowdBatch.objects.create(
        project=project, number=last + 1, batch=judged, key=secrets.token_hex(8), kind=wish.kind,
        template=wish.template, preset=wish.preset, environment=place.name, endpoint=place.endpoint, title=wish.title,
        description=wish.description, keywords=wish.keywords, rewards=wish.rewards, assignments=wish.assignments,
        duration_s=wish.duration_s, lifetime_s=wish.lifetime_s, auto_approval_s=wish.auto_approval_s,
        requirements=[one.as_json() for one in _requirements(wish, place)], fees=fees_json(place.fees),
        consent=wish.consent, consent_version=consent_version(wish.consent), expected_s=wish.expected_s,
        floor_cents=floor_cents(), cap_cents=wish.cap_cents, created_at=now, created_by=actor,
    )  # fmt: skip
    record_audit("draft crowd batch", project, target=str(batch), actor=actor, now=now)
    return batch


def consent_version(text: str) -> str:
    """Names a consent text; "" for ours, which has a version of its own."""
    return sha256(text.encode()).hexdigest()[:16] if text.strip() else ""


def wish_of(batch: CrowdBatch) -> Wish:
    """The settings of a batch, to look at them again."""
    return Wish(
        environment=batch.environment, kind=batch.kind, batch=batch.batch.number if batch.batch else None,
        template=batch.template, preset=batch.preset, title=batch.title, description=batch.description,
        keywords=batch.keywords, rewards=batch.rewards, assignments=batch.assignments, duration_s=batch.duration_s,
        lifetime_s=batch.lifetime_s, auto_approval_s=batch.auto_approval_s,
        requirements=read_requirements(batch.requirements), consent=batch.consent, expected_s=batch.expected_s,
        cap_cents=batch.cap_cents,
    )  # fmt: skip


def request_token(key: str, task: int, revision: int) -> str:
    """The token of a HIT: 64 characters, the same for the same HIT whoever makes it, another for a new revision."""
    return sha256(f"wb1/{key}/{task}/{revision}".encode()).hexdigest()


def annotation_of(key: str, task: int, revision: int) -> str:
    """By what a HIT is found again at the market when its token has run out."""
    return f"wb1:{key}:{task}:{revision}"


@transaction.atomic
def confirm(batch: CrowdBatch, *, typed: str, now: dt.datetime, actor: User | None) -> CrowdBatch:
    """Plan every HIT with its token, and set the money for all of them aside: all of it or nothing.

    On any market but the exchange, somebody has to type what is published and what it costs.
    """
    batch = lock_batch(batch.pk)
    if batch.state != BatchState.DRAFT:
        return batch  # a second click
    place = environment(batch.environment)
    if place.has_moved(batch.endpoint):
        raise CannotPublish(_("“%(name)s” has another address now. Make a new batch.") % {"name": place.name})
    if fees_json(place.fees) != batch.fees:
        raise CannotPublish(_("“%(name)s” takes other fees now. Make a new batch.") % {"name": place.name})
    wish = wish_of(batch)
    judged = batch.batch
    pieces = list(_pieces(batch.project, wish, judged))
    cost = price(pieces, wish, place)
    wanted = confirmation_words(place, batch.title, cost.most)
    if " ".join(typed.split()) != wanted:
        raise CannotPublish(_("Type exactly: %(words)s") % {"words": wanted})
    if judged is not None:
        try:
            hand_to_crowd(judged, assignments=batch.assignments, now=now, actor=actor)
        except CannotHandOver as error:
            raise CannotPublish(str(error)) from error
    batch.state, batch.confirmed_at, batch.confirmed_by = BatchState.PUBLISHING, now, actor
    batch.save(update_fields=["state", "confirmed_at", "confirmed_by"])
    reserve(batch, cost.total)
    CrowdHit.objects.bulk_create(_planned_hits(batch, pieces), batch_size=ROWS)
    detail = {"hits": cost.hits, "assignments": cost.assignments, "cost": dollars(cost.total), "market": place.name}
    record_audit("confirm crowd batch", batch.project, target=str(batch), actor=actor, now=now, detail=detail)
    return batch


def _planned_hits(batch: CrowdBatch, pieces: Sequence[Piece]) -> Iterator[CrowdHit]:
    fees = read_fees(batch.fees)
    for task, piece in enumerate(pieces, start=1):
        line = price_line("", hits=1, assignments=batch.assignments, reward=piece.reward_cents, fees=fees)
        yield CrowdHit(
            crowd_batch=batch, task=task, sheet=piece.sheet, reference=piece.reference,
            token=request_token(batch.key, task, 1), annotation=annotation_of(batch.key, task, 1),
            page=_page(piece), reward_cents=line.reward_cents, fee_cents=line.fee_cents,
            assignments=batch.assignments, reserved_cents=line.total,
        )  # fmt: skip


def _page(piece: Piece) -> dict[str, Any]:
    """What workers will see, as it reads now: a text that is corrected later must not change what was asked."""
    if piece.reference is not None:
        return {"text": as_shown(piece.reference.text), "statements": STATEMENTS}
    assert piece.sheet is not None, "a piece has a sheet or a reference"
    rows = [{"unit": row.unit.pk if row.unit else None, "text": row.text} for row in crowd_questions(piece.sheet)]
    return {"text": as_shown(piece.sheet.summary.text), "rows": rows}

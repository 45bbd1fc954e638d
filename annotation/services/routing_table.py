"""PLAN, the table: sentences with their route and the reasons for it. A page costs the same at any size."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from itertools import chain
from operator import attrgetter, or_

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.decomposing.units import FOREIGN, TOO_LONG
from annotation.models import Destination, Pin, PlanDraft, Ranking, Route
from annotation.planning.assumptions import Assumptions
from annotation.planning.budget import Forecast, forecast
from annotation.planning.prices import THOUSAND, half_up, price_slot
from annotation.planning.routing import route
from annotation.ranking.regressor import reason_words
from annotation.services.drafts import MOST_PINNED_AT_ONCE, CannotPlan, expected_of, open_desk, written_slots
from annotation.services.routes import NO_STUS, NOT_RANKED, SEEN
from annotation.services.text_search import few_sentences_with

PAGE = 50
NEAR = 20
"""Sentences on either side of the cut that are near it."""
WARNINGS = {
    NO_STUS: gettext_lazy("no STU stands for it"),
    NOT_RANKED: gettext_lazy("not ranked, so it counts as the hardest"),
    SEEN: gettext_lazy("the ranker has learnt from it"),
    FOREIGN: gettext_lazy("another language"),
    TOO_LONG: gettext_lazy("too long for the rules"),
}
SHOWN = ("all", "people", "stus", "pinned", "near", "warned")
SORTS = {
    "hard": ("rank",),
    "easy": ("-rank",),
    "corpus": ("position",),
    "long": ("-words", "-rank"),
    "stus": ("-stus", "-rank"),
}


@dataclass(frozen=True, slots=True)
class RouteRow:
    """One line of the table. Money in cents."""

    route: Route
    destination: str
    reasons: list[tuple[str, bool]]
    pin: Pin | None
    cost: int

    @property
    def warnings(self) -> list[str]:
        return [str(WARNINGS.get(name, name)) for name in self.route.warnings]

    @property
    def to_people(self) -> bool:
        return self.destination == Destination.PEOPLE


@dataclass(frozen=True, slots=True)
class RoutePage:
    rows: list[RouteRow]
    after: str  # what leads on; "" at the end


def filter_routes(draft: PlanDraft, *, shown: str = "all", search: str = "") -> QuerySet[Route]:
    """The routes of a tab and a search."""
    parts = _parts(draft, shown)
    found = Route.objects.filter(reduce(or_, parts), project=draft.project_id)
    return _search(found, search) if search else found


def _search(found: QuerySet[Route], search: str) -> QuerySet[Route]:
    few = few_sentences_with(search)
    found = found if few is None else found.filter(sentence__in=few)
    return found.filter(sentence__text__icontains=search)


def _parts(draft: PlanDraft, shown: str) -> list[Q]:
    """The conditions of a tab, any of which lets a row in. No row fulfils two of them."""
    pinned = ~Q(pin="")  # as the index of pinned rows says it
    if shown == "people":
        return [pinned & Q(pin=Destination.PEOPLE), Q(pin="", rank__lt=draft.cut)]
    if shown == "stus":
        return [pinned & Q(pin=Destination.STUS), Q(pin="", rank__gte=draft.cut)]
    if shown == "pinned":
        return [pinned]
    if shown == "near":
        return [Q(rank__gte=draft.cut - NEAR, rank__lt=draft.cut + NEAR)]
    if shown == "warned":
        return [Q(is_warned=True)]
    return [Q()]


def list_routes(
    draft: PlanDraft, *, shown: str = "all", search: str = "", sort: str = "hard", after: str = "", page: int = PAGE
) -> RoutePage:
    """A page of the table, behind the row that `after` names (keyset paging)."""
    order = SORTS[sort]
    found = Route.objects.filter(project=draft.project_id).select_related("sentence__reference__example")
    found = found.defer("sentence__reference__text", "sentence__reference__example__document")  # long, and not shown
    if search:
        found = _search(found, search)
    if after:
        found = found.filter(_behind(order, [int(value) for value in after.split("-")]))
    names = [name.removeprefix("-") for name in order]
    parts = _parts(draft, shown)
    # Along the ranks part by part: with both in one condition a database reads the rows of the other side until it
    # meets the border. In other orders the sides are mixed, and it would sort a whole side for a page.
    parts = parts if names == ["rank"] else [reduce(or_, parts)]
    heads = [found.filter(part).order_by(*order)[: page + 1] for part in parts]
    key = attrgetter(*names)
    rows = sorted(chain.from_iterable(heads), key=key, reverse=order[0].startswith("-"))[: page + 1]
    last = rows[page - 1] if len(rows) > page else None
    return RoutePage(
        describe_routes(draft, rows[:page]), "-".join(str(getattr(last, name)) for name in names) if last else ""
    )


def is_place(text: str, sort: str) -> bool:
    """Whether a text from an address can name a row of this order."""
    parts = text.split("-")
    return len(parts) == len(SORTS[sort]) and all(p.isascii() and p.isdecimal() and len(p) < 10 for p in parts)


def _behind(order: Sequence[str], values: Sequence[int]) -> Q:
    """Rows that come later in an order whose parts all go in one direction."""
    side = "lt" if order[0].startswith("-") else "gt"
    names = [name.removeprefix("-") for name in order]
    later = Q(**{f"{names[0]}__{side}": values[0]})
    if len(names) > 1:
        later |= Q(**{names[0]: values[0], f"{names[1]}__{side}": values[1]})
    return later


def describe_routes(draft: PlanDraft, routes: Sequence[Route]) -> list[RouteRow]:
    """Routes with the words that explain them."""
    _observed, expected = expected_of(draft, of_judging=False)
    keys = [row.sentence_id for row in routes]
    rankings = Ranking.objects.filter(sentence__in=keys).order_by("revision")
    reasons = {row.sentence_id: [reason_words(reason) for reason in row.reasons] for row in rankings}
    live = Pin.objects.filter(sentence__in=keys, removed_at__isnull=True).select_related("pinned_by")
    pins = {pin.sentence_id: pin for pin in live}
    return [
        RouteRow(
            row,
            route(row.rank, row.pin, draft.cut),
            reasons.get(row.sentence_id, []),
            pins.get(row.sentence_id),
            _cost(row, route(row.rank, row.pin, draft.cut), draft, expected),
        )
        for row in routes
    ]


def _cost(row: Route, destination: str, draft: PlanDraft, expected: Assumptions) -> int:
    if destination == Destination.STUS:
        return 0
    left = expected.writers - written_slots(draft, has_scus=row.has_scus, done_slots=row.done_slots)
    return half_up(max(left, 0) * price_slot(row.words, expected), THOUSAND)


@dataclass(frozen=True, slots=True)
class PinPreview:
    """What pinning all rows of a tab and a search would do."""

    sentences: list[int]
    changed: int
    total: int
    before: Forecast | None = None
    after: Forecast | None = None

    @property
    def digest(self) -> str:
        """Names the list, so that nobody pins another one than they saw."""
        return sha256(repr(self.sentences).encode()).hexdigest()[:16]

    @property
    def is_too_many(self) -> bool:
        return self.total > MOST_PINNED_AT_ONCE


def preview_pins(draft: PlanDraft, destination: str, *, shown: str, search: str, now: dt.datetime) -> PinPreview:
    """The sentences that a bulk pin would take, how many of them would change, and what that does to ratio and cost."""
    rows = list(
        filter_routes(draft, shown=shown, search=search)
        .order_by("rank")
        .values_list("sentence_id", "pin")[: MOST_PINNED_AT_ONCE + 1]
    )
    changed = sum(pin != destination for _, pin in rows)
    keys = [sentence for sentence, _ in rows[:MOST_PINNED_AT_ONCE]]
    if not changed or len(rows) > MOST_PINNED_AT_ONCE:
        return PinPreview(keys, changed, len(rows))
    try:
        desks = [open_desk(draft.project, now=now, pins=pins) for pins in ({}, dict.fromkeys(keys, destination))]
    except CannotPlan:  # nothing is ranked, so nothing can be told of costs
        return PinPreview(keys, changed, len(rows))
    before, after = (forecast(desk.budget, draft.share) for desk in desks)
    return PinPreview(keys, changed, len(rows), before, after)


def explain_route(row: RouteRow) -> str:
    """Why a sentence goes where it goes, in words."""
    if row.pin:
        who = row.pin.pinned_by
        name = (who.get_full_name() or who.get_username()) if who else _("a command")
        told = _("pinned by %(who)s") % {"who": name}
        return f"{told}: “{row.pin.note}”" if row.pin.note else told
    return ", ".join(words for words, _is_easier in row.reasons)

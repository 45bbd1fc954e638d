"""What an address may carry. Anything unknown is refused: a filter that does nothing would show the wrong rows."""

from __future__ import annotations

from collections.abc import Collection

from django.core.exceptions import BadRequest
from django.http import QueryDict
from django.utils.translation import gettext as _

MAX_DIGITS = 18


def only_known(query: QueryDict, *known: str) -> None:
    """Refuse parameters that a page does not know."""
    unknown = sorted(set(query) - set(known))
    if unknown:
        names = ", ".join(known) or _("none")
        raise BadRequest(_("Unknown parameter in the address. Known here: %(names)s.") % {"names": names})


def whole_number(query: QueryDict, name: str) -> int | None:
    """A whole number from the address; None if it is not there."""
    text = query.get(name)
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        raise BadRequest(_("%(name)s must be a whole number.") % {"name": name})
    return int(text)


def one_of(query: QueryDict, name: str, known: Collection[str]) -> str:
    """One of several words from the address; "" if it is not there."""
    text = query.get(name, "")
    if text and text not in known:
        raise BadRequest(_("%(name)s is one of: %(known)s.") % {"name": name, "known": ", ".join(known)})
    return text

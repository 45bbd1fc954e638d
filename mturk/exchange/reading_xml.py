"""XML that requesters send: read without harm, and held to the order of its members."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from mturk.exchange.errors import Refused

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
# A host goes into headers, and is said beside links: nothing else may hide in it.
HOST = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
# Whoever needs larger numbers than these means harm: they have to fit into a column.
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_DECIMAL = re.compile(r"[+-]?([0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9})")


def read_xml(xml: str) -> Element:
    try:
        root: Element = fromstring(xml)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise Refused("XMLParseError", why=f"Please make sure the data is well-formed: {error}.") from None
    return root


def space_of(element: Element) -> str:
    """The namespace of an element, in braces."""
    return str(element.tag).rpartition("}")[0] + "}"


def name_of(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def fail(why: str) -> Refused:
    return Refused("XMLParseError", why=why)


def members(element: Element, order: str) -> dict[str, list[Element]]:
    """The members of an element by name, in this order: "A B? C* D+" (one, at most one, any number, at least one)."""
    check_bare(element)
    space, left = space_of(element), list(element)
    found: dict[str, list[Element]] = {}
    for word in order.split():
        name = word.rstrip("?*+")
        most = len(left) if word[-1] in "*+" else 1
        taken = list(_leading(left, f"{space}{name}", most))
        if not taken and word[-1] not in "?*":
            raise fail(f"{name_of(element)} must have {name}; it may have {order}, in this order.")
        found[name], left = taken, left[len(taken) :]
    if left:
        raise fail(f"{name_of(element)} cannot have {name_of(left[0])} here; it may have {order}, in this order.")
    return found


def _leading(elements: list[Element], tag: str, most: int) -> Iterator[Element]:
    for element in elements[:most]:
        if element.tag != tag:
            return
        yield element


def check_bare(element: Element) -> None:
    """Refuse text between the members of an element."""
    if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
        raise fail(f"{name_of(element)} has text outside of its members.")


def plain(element: Element) -> str:
    """The text of an element that has no members."""
    if len(element):
        raise fail(f"{name_of(element)} has text only.")
    return (element.text or "").strip()


def needed(element: Element) -> str:
    """The text of an element that must have one."""
    if not (text := plain(element)):
        raise fail(f"{name_of(element)} must not be empty.")
    return text


def whole(text: str, name: str, *, least: int | None = None) -> int:
    if not _WHOLE.fullmatch(text.strip()) or (least is not None and int(text) < least):
        raise fail(f"{name} must be a whole number{'' if least is None else f' from {least}'}, of at most 9 digits.")
    return int(text)


def decimal(text: str, name: str) -> Decimal:
    if not _DECIMAL.fullmatch(text.strip()):
        raise fail(f"{name} must be a number, of at most 9 digits before and after its point.")
    return Decimal(text.strip())


def flag(text: str, name: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise fail(f"{name} must be true or false.")
    return text in ("true", "1")

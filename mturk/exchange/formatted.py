"""FormattedContent: markup of a requester, taken apart into texts that templates escape. No markup is handed on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html.entities import html5
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from mturk.exchange.errors import Refused
from mturk.exchange.reading_xml import HOST

# What MTurk allows in FormattedContent, by what becomes of it here.
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6", "caption"}
STRONG, EMPHASIS, CODE = {"b", "strong", "dt"}, {"i", "em", "cite", "q"}, {"code", "tt", "kbd", "samp", "var"}
BREAKS = {
    "p", "div", "center", "blockquote", "ul", "ol", "dl", "dd", "dt", "table", "thead", "tbody", "tfoot", "tr",
    "address",
}  # fmt: skip
CELLS = {"td", "th"}
INLINE = {
    "a", "abbr", "acronym", "big", "del", "dfn", "font", "ins", "s", "small", "span", "strike", "sub", "sup", "u",
}  # fmt: skip
EMPTY = {"br", "hr", "img", "col"}
ALLOWED = HEADINGS | STRONG | EMPHASIS | CODE | BREAKS | CELLS | INLINE | EMPTY | {"li", "pre", "colgroup"}
SCHEMES = ("https", "http", "mailto")
DEEPEST = 40
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{0,30});")
_OF_XML = {"amp", "lt", "gt", "quot", "apos"}


@dataclass(frozen=True)
class Run:
    """A stretch of text in one style: "", "strong", "em" or "code"; with `href`, a link."""

    text: str
    style: str = ""
    href: str = ""


@dataclass(frozen=True)
class Block:
    """One block: "title", "text", "item" (of a list) or "lines" (as it is written, with its breaks)."""

    kind: str
    runs: tuple[Run, ...]

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


def read_formatted(markup: str) -> tuple[Block, ...]:
    """The blocks of a piece of markup. What MTurk's subset of XHTML does not have is refused, with its name."""
    try:
        root: Element = fromstring(f"<x>{_ENTITY.sub(_character, markup)}</x>")
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise _fail(f"Please make sure that FormattedContent is well-formed XHTML: {error}.") from None
    reader = _Reader()
    reader.read(root)
    reader.end_block()
    if not reader.blocks:
        raise _fail("FormattedContent is empty.")
    return tuple(reader.blocks)


def check_link(url: str) -> str:
    """An address that a link may have."""
    try:
        parts = urlsplit(url.strip())
        is_good = parts.scheme == "mailto" or (parts.scheme in SCHEMES and HOST.fullmatch(parts.netloc) is not None)
    except ValueError:
        is_good = False
    if not is_good:
        raise _fail(f'"{url[:200]}" is no address of the kinds {", ".join(SCHEMES)}.')
    return url.strip()


def _fail(why: str) -> Refused:
    return Refused("XHTMLParseError", why=why)


def _character(found: re.Match[str]) -> str:
    """XHTML's names of characters, such as &nbsp;, which plain XML does not know. Its own five stay as they are."""
    name = found[1]
    return found[0] if name in _OF_XML else html5.get(f"{name};", found[0])


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.runs: list[Run] = []
        self.open: list[str] = []
        self.links: list[str] = []

    def read(self, element: Element) -> None:
        """What stands in an element, in its order. The depth is bounded, so calling oneself is too."""
        self.add_text(element.text or "")
        for child in element:
            tag = str(child.tag).lower()
            self.begin(tag, {name.lower(): value for name, value in child.attrib.items()})
            if tag in EMPTY and (len(child) or (child.text or "").strip()):
                raise _fail(f"<{tag}> cannot have anything in it.")
            self.read(child)
            self.end(tag)
            self.add_text(child.tail or "")

    def begin(self, tag: str, given: Mapping[str, str]) -> None:
        if tag not in ALLOWED:
            raise _fail(f"FormattedContent cannot have <{tag[:40]}>.")
        for name in given:
            if name.startswith("on"):
                raise _fail(f"FormattedContent cannot have the attribute {name[:40]}.")
        if len(self.open) >= DEEPEST:
            raise _fail(f"FormattedContent is nested more than {DEEPEST} deep.")
        if tag in BREAKS | HEADINGS | {"li", "pre", "br", "hr"}:
            self.end_block()
        if tag == "a":
            self.links.append(check_link(given["href"]) if "href" in given else "")
        if tag == "img":
            href = check_link(given.get("src", ""))
            self.runs.append(Run(given.get("alt", "").strip() or href, href=href))
        if tag not in EMPTY:
            self.open.append(tag)

    def end(self, tag: str) -> None:
        if tag in EMPTY:
            return
        if tag in BREAKS | HEADINGS | {"li", "pre"}:
            self.end_block()
        if tag in CELLS:
            self.add("\t")
        self.open.pop()
        if tag == "a":
            self.links.pop()

    def add_text(self, text: str) -> None:
        self.add(text if "pre" in self.open else " ".join(f"|{text}|".split())[1:-1])

    def add(self, text: str) -> None:
        is_in = set(self.open)
        style = "code" if is_in & CODE else "strong" if is_in & (STRONG | {"th"}) else "em" if is_in & EMPHASIS else ""
        if text:
            self.runs.append(Run(text, style, self.links[-1] if self.links else ""))

    def end_block(self) -> None:
        """What has been read since the last block becomes one, if there is something."""
        is_in = set(self.open)
        runs, self.runs = self.runs, []
        if not "".join(run.text for run in runs).strip():
            return
        kinds = {"lines": {"pre"}, "title": HEADINGS, "item": {"li"}}
        kind = next((kind for kind, tags in kinds.items() if is_in & tags), "text")
        self.blocks.append(Block(kind, tuple(runs)))

"""The part of a stylesheet that one page needs. A HIT that carries its own page has 65,535 bytes for everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")
_AROUND = re.compile(r"\s*;\s*")
# Names in a selector. What stands in :not(…) may be absent; pseudo-elements and states are always possible.
_NOT = re.compile(r":not\([^)]*\)")
_CLASS_OR_ID = re.compile(r"[.#](-?[A-Za-z_][\w-]*)")
_ATTRIBUTE = re.compile(r"\[([\w-]+)")
_TAG = re.compile(r"(?:^|[\s>+~,(])([a-z][a-z0-9]*)\b")
_PSEUDO = re.compile(r"::?[\w-]+(\([^)]*\))?")
# A script or the browser sets these.
_LATER = {"data-now", "hidden", "disabled", "open", "aria-disabled", "aria-invalid"}


class _Names(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags, self.words, self.attributes = {"html"}, set[str](), set(_LATER)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("class", "id"):
                self.words |= set((value or "").split())


def cut_style(css: str, html: str) -> str:
    """The rules of `css` that can match something in `html`, without comments and spare white space."""
    names = _Names()
    names.feed(html)
    return _SPACE.sub(" ", "".join(_kept(_COMMENT.sub("", css), names))).strip()


def _kept(css: str, names: _Names) -> Iterator[str]:
    for head, body in _blocks(css):
        if head.startswith(("@media", "@supports")):
            inner = "".join(_kept(body, names))
            if inner:
                yield f"{head}{{{inner}}}"
        elif not head.startswith("@"):
            selectors = [selector for selector in _parts(head) if _can_match(selector, names)]
            if selectors:
                rules = _AROUND.sub(";", body).strip().removesuffix(";")
                yield f"{','.join(selectors)}{{{rules}}}"


def _blocks(css: str) -> Iterator[tuple[str, str]]:
    """(head, body) of every rule at the top; bodies of at-rules hold rules again."""
    start = 0
    while (brace := css.find("{", start)) >= 0:
        depth, end = 1, brace + 1
        while depth and end < len(css):
            depth += {"{": 1, "}": -1}.get(css[end], 0)
            end += 1
        yield _SPACE.sub(" ", css[start:brace]).strip(), css[brace + 1 : end - 1]
        start = end


def _parts(head: str) -> list[str]:
    """The selectors of a list; commas inside brackets part nothing."""
    parts, depth = [""], 0
    for character in head:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _can_match(selector: str, names: _Names) -> bool:
    plain = _PSEUDO.sub("", _NOT.sub("", selector))
    return (
        all(word in names.words for word in _CLASS_OR_ID.findall(plain))
        and all(name in names.attributes for name in _ATTRIBUTE.findall(plain))
        and all(tag in names.tags for tag in _TAG.findall(plain))
    )

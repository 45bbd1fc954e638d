"""Whether a Question is one that MTurk would take. Our own structural checks: Amazon's schema files are not at hand."""

from __future__ import annotations

from collections.abc import Collection
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit
from xml.etree.ElementTree import Element

from mturk.exchange.errors import Refused
from mturk.exchange.question_form import is_form, read_form
from mturk.exchange.reading_xml import HOST, SCHEMAS, read_xml

HTML = f"{{{SCHEMAS}2011-11-11/HTMLQuestion.xsd}}"
EXTERNAL = f"{{{SCHEMAS}2006-07-14/ExternalQuestion.xsd}}"
RESERVED = {"assignmentId", "hitId", "turkSubmitTo", "workerId"}
RAW_TEXT = ("script", "style")


def check_question(xml: str, *, plain_http: Collection[str] = ()) -> None:
    """Refuse what MTurk would refuse. `plain_http` are hosts that may do without https: those of this machine."""
    root = read_xml(xml)
    if root.tag == f"{HTML}HTMLQuestion":
        check_frame(root, HTML, first="HTMLContent")
        check_html(root.findtext(f"{HTML}HTMLContent") or "")
    elif root.tag == f"{EXTERNAL}ExternalQuestion":
        check_frame(root, EXTERNAL, first="ExternalURL")
        check_url((root.findtext(f"{EXTERNAL}ExternalURL") or "").strip(), plain_http)
    elif is_form(root):
        read_form(root)
    else:
        why = "It is no HTMLQuestion, ExternalQuestion or QuestionForm of a known schema."
        raise Refused("XMLParseError", why=why)


def check_frame(root: Element, space: str, *, first: str) -> None:
    """Both kinds have two members, in this order."""
    if [child.tag for child in root] != [f"{space}{first}", f"{space}FrameHeight"]:
        raise Refused("XMLParseError", why=f"It must have {first} and FrameHeight, in this order.")
    height = (root.findtext(f"{space}FrameHeight") or "").strip()
    if not (height.isascii() and height.isdecimal() and len(height) <= 6):
        raise Refused("XMLParseError", why="FrameHeight must be a whole number from 0.")


def check_url(url: str, plain_http: Collection[str]) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or not HOST.fullmatch(parts.netloc):
        raise Refused("InvalidParameterValue", value=url[:200], name="ExternalURL", why="It must be an address.")
    if parts.scheme != "https" and not (parts.scheme == "http" and host in plain_http):
        raise Refused("InvalidParameterValue", value=url[:200], name="ExternalURL", why="It must begin with https.")
    taken = sorted(RESERVED & {name for name, _value in parse_qsl(parts.query, keep_blank_values=True)})
    if taken:
        why = f"These parameters are added by the exchange: {', '.join(taken)}."
        raise Refused("InvalidParameterValue", value=url[:200], name="ExternalURL", why=why)


class Html5Reader(HTMLParser):
    """Finds what MTurk's validator was known to refuse: a bare "&", a second body, a page without content."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.problem = ""
        self.bodies = 0
        self.inside = ""
        self.has_content = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.has_content = True
        self.bodies += tag == "body"
        if tag in RAW_TEXT:
            self.inside = tag
        if self.bodies > 1:
            self.problem = "It has a second body."

    def handle_endtag(self, tag: str) -> None:
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, data: str) -> None:
        if "&" in data and not self.inside:
            self.problem = 'It has a "&" that begins no character reference; write &amp;.'
        self.has_content = self.has_content or bool(data.strip())


def check_html(html: str) -> None:
    reader = Html5Reader()
    reader.feed(html)
    reader.close()
    if not reader.has_content:
        raise Refused("XHTMLParseError", why="HTMLContent is empty.")
    if reader.problem:
        raise Refused("XHTMLParseError", why=reader.problem)

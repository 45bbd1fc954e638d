"""A browser without a window: fetches pages over a line that stays open, keeps cookies, reads and posts forms."""

from __future__ import annotations

import http.client
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

TIMEOUT_S = 60
MOST_REDIRECTS = 5
_NUMBER = re.compile(r"^\d+\s+")


@dataclass(slots=True)
class Form:
    """A form: its hidden values, choices by name, lines to write in, and what is asked beside each name."""

    action: str = ""
    values: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    """Forms, the first frame, and the text that is read (of class "text")."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.frame = ""
        self.text: list[str] = []
        self.legend: list[str] = []
        self.form: Form | None = None
        self.depth = 0  # inside the text
        self.in_legend = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form = Form(given.get("action", ""))
            self.forms.append(self.form)
        elif tag == "iframe" and not self.frame:
            self.frame = given.get("src", "")
        elif tag == "legend":
            self.legend, self.in_legend = [], True
        elif self.form is not None and given.get("name"):
            self.read_field(self.form, tag, given)
        if tag == "div" and (self.depth or "text" in given.get("class", "").split()):
            self.depth += 1

    def read_field(self, form: Form, tag: str, given: dict[str, str]) -> None:
        name, kind = given["name"], given.get("type", "text")
        if tag == "textarea":
            form.values[name] = ""
        elif tag == "input" and kind == "radio":
            form.choices.setdefault(name, []).append(given.get("value", "on"))
            form.labels[name] = _NUMBER.sub("", "".join(self.legend).strip())
        elif tag == "input" and kind == "hidden":
            form.values[name] = given.get("value", "")
        elif tag == "input" and kind == "text":
            form.lines.append(name)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        elif tag == "legend":
            self.in_legend = False
        elif tag == "div" and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.text.append(data)
        if self.in_legend:
            self.legend.append(data)


@dataclass(slots=True)
class Page:
    """What came back. Addresses in it are whole."""

    url: str
    status: int
    forms: list[Form]
    frame: str
    text: str

    def parameter(self, name: str) -> str:
        """A value from the page's own address."""
        return parse_qs(urlsplit(self.url).query).get(name, [""])[0]


def read_page(url: str, status: int, html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    for form in reader.forms:
        form.action = urljoin(url, form.action) if form.action else ""
    frame = urljoin(url, reader.frame) if reader.frame else ""
    return Page(url, status, reader.forms, frame, "".join(reader.text))


class Visitor:
    """One person's browser."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, str], http.client.HTTPConnection] = {}
        self.cookies: dict[str, dict[str, str]] = {}
        self.requests = 0

    def get(self, url: str) -> Page:
        return self.visit("GET", url, None)

    def post(self, url: str, values: dict[str, str]) -> Page:
        return self.visit("POST", url, values)

    def visit(self, method: str, url: str, values: dict[str, str] | None) -> Page:
        for _hop in range(MOST_REDIRECTS):
            status, headers, body = self.send(method, url, values)
            target = headers.get("Location")
            if status not in (301, 302, 303) or not target:
                return read_page(url, status, body.decode("utf-8", "replace"))
            method, url, values = "GET", urljoin(url, target), None
        raise http.client.HTTPException(f"{url} leads in circles.")

    def send(self, method: str, url: str, values: dict[str, str] | None) -> tuple[int, http.client.HTTPMessage, bytes]:
        parts = urlsplit(url)
        jar = self.cookies.setdefault(parts.netloc, {})
        headers = {"Referer": url} if values is not None else {}
        if jar:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        body = None
        if values is not None:
            body = urlencode(values).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        reply = self.ask((parts.scheme, parts.netloc), method, path, body, headers)
        for text in reply[1].get_all("Set-Cookie", []):
            for name, morsel in SimpleCookie(text).items():
                jar[name] = morsel.value
        return reply

    def ask(
        self, place: tuple[str, str], method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """One request. A line that the other side has closed meanwhile is opened once more: nothing of it was read."""
        for is_last in (False, True):
            is_fresh = place not in self.lines
            line = self.lines.get(place) or self.open_line(place)
            try:
                self.requests += 1
                line.request(method, path, body=body, headers=headers)
                reply = line.getresponse()
                return reply.status, reply.headers, reply.read()
            except (http.client.RemoteDisconnected, ConnectionError, http.client.CannotSendRequest):
                self.lines.pop(place).close()
                if is_last or is_fresh:
                    raise
        raise AssertionError("unreachable")

    def open_line(self, place: tuple[str, str]) -> http.client.HTTPConnection:
        scheme, netloc = place
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        self.lines[place] = kind(netloc, timeout=TIMEOUT_S)
        return self.lines[place]

    def close(self) -> None:
        for line in self.lines.values():
            line.close()

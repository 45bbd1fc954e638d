"""What a HIT asks, as the XML that MTurk's protocol carries: a page of ours by its address, or the page itself."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import parse_qsl, urlsplit
from xml.sax.saxutils import escape

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
EXTERNAL_QUESTION = f"{SCHEMAS}/2006-07-14/ExternalQuestion.xsd"
HTML_QUESTION = f"{SCHEMAS}/2011-11-11/HTMLQuestion.xsd"
MOST_BYTES = 65_535  # bytes, not characters, and white space counts
# The market appends these to the address itself.
RESERVED = frozenset({"assignmentId", "hitId", "turkSubmitTo", "workerId"})

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class QuestionTooLarge(ValueError):
    """The wrapped question is longer than the market takes."""


class BadQuestionUrl(ValueError):
    """An address that the market would refuse."""


def legal_text(text: str) -> str:
    """A text without the characters that XML 1.0 cannot hold in any form; line ends as XML readers give them back."""
    return _ILLEGAL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def external_question(url: str, frame_height: int = 0, *, plain_http: Collection[str] = ()) -> str:
    """A question that shows a page by its address. Height 0 lets the page fill the window."""
    check_url(url, plain_http)
    inner = f"<ExternalURL>{escape(legal_text(url))}</ExternalURL><FrameHeight>{frame_height:d}</FrameHeight>"
    return _within_limit(f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}">{inner}</ExternalQuestion>')


def html_question(html: str, frame_height: int = 0) -> str:
    """A question that carries its own page. The page may hold anything, even the end mark of its own wrapper."""
    content = legal_text(html).replace("]]>", "]]]]><![CDATA[>")
    inner = f"<HTMLContent><![CDATA[{content}]]></HTMLContent><FrameHeight>{frame_height:d}</FrameHeight>"
    return _within_limit(f'<HTMLQuestion xmlns="{HTML_QUESTION}">{inner}</HTMLQuestion>')


def check_url(url: str, plain_http: Collection[str] = ()) -> None:
    """Refuse an address that is not https or that uses a name the market appends.

    This machine may do without https, and hosts in `plain_http`: those that the market itself lets do without.
    """
    parts = urlsplit(url)
    if not parts.hostname or parts.scheme not in {"http", "https"}:
        raise BadQuestionUrl(f"{url!r} is not a web address. Give a full one, e.g. https://pyramid.example.org/task/…")
    if parts.scheme != "https" and not (is_loopback(parts.hostname) or parts.hostname in plain_http):
        raise BadQuestionUrl(f"{url!r} is not https. Markets show pages of other machines over https only.")
    taken = sorted(RESERVED & {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)})
    if taken:
        raise BadQuestionUrl(f"{url!r} sets {', '.join(taken)} itself. The market appends these; leave them out.")


def is_loopback(host: str) -> bool:
    """Whether a host name means this very machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _within_limit(question: str) -> str:
    size = len(question.encode())
    if size > MOST_BYTES:
        raise QuestionTooLarge(
            f"The question has {size:,} bytes, {size - MOST_BYTES:,} more than the {MOST_BYTES:,} that a HIT carries. "
            "Shorten the texts, ask fewer units per HIT, or publish as ExternalQuestion."
        )
    return question

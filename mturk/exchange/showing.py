"""How a HIT's question is shown: at which address and with which parameters, or as a form of our own."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from mturk.exchange.question_form import QuestionForm, is_form, read_form
from mturk.exchange.reading_xml import name_of, read_xml

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


@dataclass(frozen=True)
class Shown:
    """A page by its address, the page itself, or questions. `height` 0 fills the window."""

    url: str = ""
    html: str = ""
    height: int = 0
    form: QuestionForm | None = None


def read_question(xml: str) -> Shown:
    """What a question shows. It was checked when its HIT was made."""
    root = read_xml(xml)
    if is_form(root):
        return Shown(form=read_form(root))
    texts = {name_of(element): element.text or "" for element in root}
    height = texts.get("FrameHeight", "").strip()
    number = int(height) if height.isdecimal() else 0
    return Shown(texts.get("ExternalURL", "").strip(), texts.get("HTMLContent", ""), number)


def frame_url(url: str, *, assignment_id: str, hit_id: str, worker_id: str, submit_to: str) -> str:
    """An address with the four parameters that every HIT page gets."""
    given = {
        "assignmentId": assignment_id or PREVIEW,
        "hitId": hit_id,
        "workerId": worker_id,
        "turkSubmitTo": submit_to,
    }
    base, _hash, fragment = url.partition("#")
    whole = f"{base}{'&' if '?' in base else '?'}{urlencode(given)}"
    return f"{whole}#{fragment}" if fragment else whole


def origin_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"

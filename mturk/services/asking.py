"""The question that the market carries for a HIT."""

from __future__ import annotations

from urllib.parse import urlsplit

from mturk.environments import environment
from mturk.models import CrowdHit, Template
from mturk.questions import external_question, html_question
from mturk.services.task_pages import task_page
from mturk.task_html import self_contained
from mturk.task_links import task_url


def question_of(hit: CrowdHit) -> str:
    """The same whenever it is made: a HIT that is sent again must be the same HIT."""
    batch = hit.crowd_batch
    if batch.template == Template.EXTERNAL:
        url = task_url(hit.pk, batch.kind)
        # Our own exchange shows our own pages as they are reached; other markets insist on https.
        own = {urlsplit(url).hostname or ""} if environment(batch.environment).is_exchange else set()
        return external_question(url, plain_http=own)
    return html_question(self_contained(task_page(hit)))

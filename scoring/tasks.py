"""What a worker does for scores: the run itself, and help with the parts of somebody else's."""

from __future__ import annotations

import logging
from functools import partial

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from annotation.models import Queue, Stage
from annotation.services.jobs import register_job
from scoring.services.score_job import do_score, help_run
from scoring.services.text_checks import check_texts

logger = logging.getLogger(__name__)

CHECKS_EXPIRE_SECONDS = 120


@shared_task
def help_run_task(run_id: int) -> None:
    help_run(run_id, invite=invite_helper)


def invite_helper(run_id: int) -> None:
    """Hint to one other worker that there are parts to do. Whoever comes invites the next one in turn.

    Without help the worker that has the run does all of them.
    """
    try:
        help_run_task.apply_async((run_id,), queue=Queue.NLP.value, retry=False)
    except (OSError, BrokerError) as error:
        logger.warning("run %s: the broker cannot be reached now (%s); nobody is asked for help", run_id, error)


@shared_task
def check_texts_task(sentence_id: int, texts: list[str]) -> None:
    check_texts(sentence_id, texts, now=timezone.now())


def ask_for_checks(sentence_id: int, texts: list[str]) -> None:
    """Ask a worker to look at texts. A message that nobody takes in time is not worth more work: the page tells."""
    try:
        check_texts_task.apply_async(
            (sentence_id, texts), queue=Queue.NLP.value, retry=False, expires=CHECKS_EXPIRE_SECONDS
        )
    except (OSError, BrokerError) as error:
        logger.warning("sentence %s: the broker cannot be reached (%s); its texts stay unchecked", sentence_id, error)


register_job(Stage.SCORE, queue=Queue.NLP, work=partial(do_score, invite=invite_helper))

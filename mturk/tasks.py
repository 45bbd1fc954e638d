"""What a worker does for the crowd. Importing this tells how the stages are done."""

from __future__ import annotations

import datetime as dt
import logging

from celery import shared_task
from kombu.exceptions import OperationalError as BrokerError

from annotation.models import Queue, Stage
from annotation.services.jobs import register_chore, register_job
from mturk.services.crowd_job import do_collect, do_publish, poll
from mturk.services.polling import claim_due

logger = logging.getLogger(__name__)

register_job(Stage.PUBLISH, queue=Queue.IO, work=do_publish)
register_job(Stage.COLLECT, queue=Queue.IO, work=do_collect)


@shared_task
def poll_task(batch_id: int) -> None:
    poll(batch_id)


def poll_due(now: dt.datetime) -> None:
    """Ask about batches whose turn it is. A message that is lost costs one interval."""
    for batch_id in claim_due(now=now):
        try:
            poll_task.apply_async((batch_id,), queue=Queue.IO, retry=False)
        except (OSError, BrokerError) as error:
            logger.warning("crowd batch %s: the broker cannot be reached now (%s)", batch_id, error)


register_chore(Queue.IO, poll_due)

"""What a worker process does for the exchange."""

from __future__ import annotations

import logging

from celery import shared_task

from mturk.exchange.services.simulated import let_work

logger = logging.getLogger(__name__)


@shared_task
def simulate_task() -> None:
    """Simulated workers do what is open. A message that is lost costs a second click."""
    tally = let_work()
    logger.info("simulated workers: %s handed in, %s returned", tally.handed_in, tally.returned)

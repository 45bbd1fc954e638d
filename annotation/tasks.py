"""What a worker can be asked to do. Each task takes an id, calls one service, and may come twice."""

from celery import shared_task
from django.utils import timezone

from annotation.services import jobs


@shared_task(queue="io")
def import_corpus_task(run_id: int) -> None:
    jobs.run_import(run_id, now=timezone.now())

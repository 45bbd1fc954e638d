"""The Celery app. Queues: "io" for imports and the crowd, "nlp" for models."""

import os

from celery import Celery

from workbench import file_broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "workbench.settings")

file_broker.register()
app = Celery("workbench")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

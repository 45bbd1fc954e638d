from django.apps import AppConfig


class MTurkConfig(AppConfig):
    name = "mturk"

    def ready(self) -> None:
        from mturk import tasks  # noqa: F401 - tells how publishing and collecting are done, whoever asks for them

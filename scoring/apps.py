from django.apps import AppConfig


class ScoringConfig(AppConfig):
    name = "scoring"

    def ready(self) -> None:
        from scoring import tasks  # noqa: F401 - tells how a score run is done, whoever asks for one

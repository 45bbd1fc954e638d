from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation import signing_out  # noqa: F401 - gives tasks back when somebody signs out

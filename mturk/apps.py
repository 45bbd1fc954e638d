from django.apps import AppConfig


class MTurkConfig(AppConfig):
    name = "mturk"

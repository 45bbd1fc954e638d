from django.apps import AppConfig


class ExchangeConfig(AppConfig):
    name = "mturk.exchange"
    label = "exchange"

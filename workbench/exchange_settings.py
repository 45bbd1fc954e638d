"""Settings of the exchange when it runs alone: all as for the workbench, but for the routes."""

from workbench.settings import *  # noqa: F403

ROOT_URLCONF = "workbench.exchange_urls"

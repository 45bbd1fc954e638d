"""Template tags of the crowd's pages."""

from __future__ import annotations

from django import template
from django.conf import settings
from django.utils.translation import gettext

register = template.Library()


@register.filter
def market_name(name: str) -> str:
    """A market for people: the exchange by a word of their language, others as they are named in the settings."""
    is_exchange = settings.CROWD_ENVIRONMENTS.get(name, {}).get("is_exchange")
    return gettext("exchange") if is_exchange else name

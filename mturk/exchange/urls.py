"""Routes of the exchange: MTurk's API for requesters, keys and pay for staff, the site for workers."""

from django.conf import settings
from django.urls import URLPattern, path

from mturk.exchange.control_urls import urlpatterns as control_urlpatterns
from mturk.exchange.site_urls import urlpatterns as site_urlpatterns
from mturk.exchange.views import api, keys, simulated

app_name = "exchange"

urlpatterns: list[URLPattern] = [
    path("api/", api.api, name="api"),
    path("keys/", keys.keys, name="keys"),
    path("keys/<int:requester_id>/renew/", keys.renew_key, name="renew-key"),
    path("keys/<int:requester_id>/revoke/", keys.revoke_key, name="revoke-key"),
    path("keys/<int:requester_id>/deposit/", keys.deposit, name="deposit"),
    path("pay/", keys.pay, name="pay"),
    path("pay/owed.csv", keys.pay_list, name="pay-list"),
    path("simulated/", simulated.simulated, name="simulated"),
    *site_urlpatterns,
]

# Off, there is not even a door.
if settings.EXCHANGE_CONTROL_TOKEN:
    urlpatterns += control_urlpatterns

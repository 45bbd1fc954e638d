"""Routes of the exchange when it runs alone: its own, the door, and the account of whoever works or keeps it.

The API is at the root as well, where clients of Mechanical Turk expect it.
"""

from django.urls import URLPattern, URLResolver, include, path
from django.views.decorators.http import require_POST

from annotation.views import account
from mturk.exchange.views.api import root
from workbench import health, urls

handler400, handler404, handler500 = urls.handler400, urls.handler404, urls.handler500

own_account = [
    path("account/", account.account, name="account"),
    path("account/theme/", account.set_theme, name="theme"),
    path("account/tokens/", account.create_token, name="create-token"),
    path("account/tokens/<slug:token_key>/revoke/", account.revoke_token, name="revoke-token"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", root, name="project-list"),  # the pages' way home
    path("exchange/", include("mturk.exchange.urls")),
    path("", include((own_account, "annotation"))),
    path("sign-in/", urls.sign_in, name="login"),
    path("sign-out/", require_POST(urls.auth_views.LogoutView.as_view()), name="logout"),
    path("password/reset/<uidb64>/<token>/", urls.reset_password, name="password-reset"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]

"""All settings, from the environment alone. Nothing set: one machine, SQLite, a broker without a server.

.env.example lists every variable with its default.
"""

import contextlib
import datetime as dt
import os
import re
import secrets
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.conf import global_settings
from django.core.exceptions import ImproperlyConfigured

# A variable that is set to nothing counts as not set.
env = environ.Env()
env.ENVIRON = {name: value for name, value in os.environ.items() if value}


def one_of(name: str, choices: tuple[str, ...], *, default: str) -> str:
    value: str = env.str(name, default=default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}. Set it to one of: {', '.join(choices)}.")
    return value


def switch(name: str) -> bool:
    return one_of(name, ("0", "1"), default="0") == "1"


BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("PYRAMID_VAR", default=str(BASE_DIR / "var"))).absolute()
try:
    VAR_DIR.mkdir(parents=True, exist_ok=True)
except OSError as error:
    raise ImproperlyConfigured(f"The folder {VAR_DIR} cannot be made ({error.strerror}). Set PYRAMID_VAR.") from error

PRODUCTION = one_of("PYRAMID_ENV", ("local", "production"), default="local") == "production"


# --- secrets and hosts -------------------------------------------------------------------------------------------

# Long enough to be a key, and not one of the strings that people paste from documentation.
SECRET_KEY_MIN_LENGTH = 50
SECRET_KEY_DEFAULTS = ("change-me", "changeme", "django-insecure", "secret", "example")
HOW_TO_MAKE_A_KEY = "Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(60))'"


def production_secret_key() -> str:
    key = env.str("SECRET_KEY", default="")
    if not key:
        raise ImproperlyConfigured(f"SECRET_KEY is not set; production does not start without it. {HOW_TO_MAKE_A_KEY}")
    if len(key) < SECRET_KEY_MIN_LENGTH or len(set(key)) < 10 or key.lower().startswith(SECRET_KEY_DEFAULTS):
        raise ImproperlyConfigured(
            f"SECRET_KEY is a default or too short (under {SECRET_KEY_MIN_LENGTH} characters). {HOW_TO_MAKE_A_KEY}"
        )
    return key


def local_secret_key() -> str:
    """One random key per installation, kept in var/, so that a laptop needs no set-up and shares no key."""
    if key := env.str("SECRET_KEY", default=""):
        return key
    path = VAR_DIR / "secret-key"
    if not path.exists():
        # Written whole under another name and then linked: two processes that start at once agree on one key.
        with tempfile.NamedTemporaryFile("w", dir=VAR_DIR, encoding="ascii") as draft:
            draft.write(secrets.token_urlsafe(60))
            draft.flush()
            with contextlib.suppress(FileExistsError):
                os.link(draft.name, path)
    return path.read_text(encoding="ascii")


SECRET_KEY = production_secret_key() if PRODUCTION else local_secret_key()
DEBUG = switch("DEBUG")
if DEBUG and PRODUCTION:
    raise ImproperlyConfigured("DEBUG=1 shows secrets to everybody. Unset it in production.")


def local_address() -> str:
    """Where the demo runs, so that commands beside it print links that work."""
    noted = VAR_DIR / "demo-address"
    return noted.read_text(encoding="ascii") if noted.exists() else "http://127.0.0.1:8000"


PUBLIC_URL = env.str("PUBLIC_URL", default="" if PRODUCTION else local_address()).rstrip("/")
if PRODUCTION and not PUBLIC_URL:
    raise ImproperlyConfigured(
        "PUBLIC_URL is not set. Set it to the address people type, e.g. https://pyramid.example.org"
    )
_public = urlsplit(PUBLIC_URL)
if (
    _public.scheme not in {"http", "https"}
    or not re.fullmatch(r"[\w.-]+(:\d+)?|\[[0-9a-fA-F:]+\](:\d+)?", _public.netloc)
    or _public.path
    or _public.query
):
    raise ImproperlyConfigured(
        f"PUBLIC_URL is {PUBLIC_URL!r}. It must be an address without path, e.g. https://pyramid.example.org"
    )
HTTPS = _public.scheme == "https"
_host = re.sub(r":\d+$", "", _public.netloc)

ALLOWED_HOSTS = [_host] if PRODUCTION else ["localhost", "127.0.0.1", "[::1]", _host]
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
# Load balancers ask over plain http, from inside.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Believe X-Forwarded-… only where a proxy is known to set them: anybody else could forge them.
TRUST_PROXY = switch("TRUST_PROXY")
if TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# HSTS for subdomains and preload lists bind hosts that are not ours to bind.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# Markets that may show our HIT pages in a frame and get the answers, beside our own exchange. MTurk's own, which has
# closed: https://*.mturk.com
TASK_HOSTS = [host.rstrip("/") for host in env.list("TASK_HOSTS", default=[]) if host]
for _market in TASK_HOSTS:
    if not re.fullmatch(r"https://(\*\.)?[\w.-]+(:\d+)?|http://(localhost|127\.0\.0\.1)(:\d+)?", _market):
        raise ImproperlyConfigured(f"TASK_HOSTS has {_market!r}. Name origins, e.g. https://*.mturk.com")
# The exchange shows pages that come with a HIT from a second origin only, so that they reach nothing of the first. On a
# laptop the other name of the same machine will do; in production, set a second name of this server.
EXCHANGE_FRAME_ORIGIN = env.str("EXCHANGE_FRAME_ORIGIN", default="").rstrip("/")
if EXCHANGE_FRAME_ORIGIN:
    if EXCHANGE_FRAME_ORIGIN == PUBLIC_URL or not re.fullmatch(r"https?://[\w.-]+(:\d+)?", EXCHANGE_FRAME_ORIGIN):
        raise ImproperlyConfigured(
            f"EXCHANGE_FRAME_ORIGIN is {EXCHANGE_FRAME_ORIGIN!r}. It must be an address without path, and another one "
            "than PUBLIC_URL, e.g. https://frames.example.org"
        )
    ALLOWED_HOSTS.append(re.sub(r":\d+$", "", urlsplit(EXCHANGE_FRAME_ORIGIN).netloc))

# Whoever has this token moves the exchange's clock, orders failures and empties it. For tests; unset, there is no way.
EXCHANGE_CONTROL_TOKEN = env.str("EXCHANGE_CONTROL_TOKEN", default="")
if EXCHANGE_CONTROL_TOKEN and PRODUCTION:
    raise ImproperlyConfigured("EXCHANGE_CONTROL_TOKEN lets tests empty the exchange. Unset it in production.")
# Simulated workers at a click, for trying things out; the demo sets this.
EXCHANGE_SIMULATION = env.bool("EXCHANGE_SIMULATION", default=False)
if EXCHANGE_SIMULATION and PRODUCTION:
    raise ImproperlyConfigured("EXCHANGE_SIMULATION lets programs do paid HITs. Unset it in production.")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}


# --- parts -------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "django_htmx",
    "rest_framework",
    "knox",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "annotation",
    "scoring",
    "mturk",
    "mturk.exchange",
    "workbench",
]
MIDDLEWARE = [
    "workbench.middleware.HealthMiddleware",  # first: load balancers ask by address, not by our name
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "workbench.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "workbench.middleware.PlainAnswersMiddleware",
    "axes.middleware.AxesMiddleware",  # last: it turns a refused login into its page
]
ROOT_URLCONF = "workbench.urls"
WSGI_APPLICATION = "workbench.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["workbench.templatetags.look"],
        },
    }
]

AUTH_USER_MODEL = "annotation.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
# Ten wrong passwords for one name from one address, then a quarter of an hour of rest.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = dt.timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_VERBOSE = False
AXES_CLIENT_IP_CALLABLE = "workbench.middleware.client_address"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "project-list"
LOGOUT_REDIRECT_URL = "login"


# --- database ----------------------------------------------------------------------------------------------------

DATABASES = {"default": env.db_url("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'workbench.sqlite3'}")}
if DATABASES["default"].get("ENGINE") not in {"django.db.backends.sqlite3", "django.db.backends.postgresql"}:
    raise ImproperlyConfigured(
        "DATABASE_URL must begin with sqlite:/// or postgres://, e.g. postgres://user:password@host:5432/name"
    )
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        # Take the write lock at BEGIN: a transaction that reads first and writes later could not be retried.
        "transaction_mode": "IMMEDIATE",
        # Seconds that a writer waits for another one before it gives up.
        "timeout": 20,
        # FULL, not NORMAL: what an annotator was told is saved must survive a power cut.
        # 64 MB of pages in memory: with SQLite's 2 MB a list from all over a large corpus reads the same pages again.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-64000;",
    }
    # A file, as in real life: a database in memory has other locks.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
else:
    DATABASES["default"].update(CONN_MAX_AGE=60, CONN_HEALTH_CHECKS=True)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


# --- queue -------------------------------------------------------------------------------------------------------

BROKER_DIR = VAR_DIR / "broker"
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="filesystem://")
if CELERY_BROKER_URL.startswith("filesystem://"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        # A message written to "out" is read from "in": one folder serves both ends.
        "data_folder_in": str(BROKER_DIR / "messages"),
        "data_folder_out": str(BROKER_DIR / "messages"),
        "control_folder": str(BROKER_DIR / "control"),
    }
    for _folder in ("messages", "control"):
        (BROKER_DIR / _folder).mkdir(parents=True, exist_ok=True)
# Seconds without a heartbeat after which a run is taken from its worker and queued again.
_stale = env.str("RUN_STALE_SECONDS", default="30")
if not re.fullmatch(r"[1-9]\d{0,4}", _stale):
    raise ImproperlyConfigured(f"RUN_STALE_SECONDS is {_stale!r}. Set it to a whole number of seconds from 1.")
RUN_STALE_SECONDS = int(_stale)
RUN_BEAT_SECONDS = min(5.0, RUN_STALE_SECONDS / 6)
WORKER_MISSING_SECONDS = 30
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "io"
CELERY_TASK_IGNORE_RESULT = True  # the run row tells the outcome, no result backend is needed
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # liveness comes from the database, on every broker alike
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]


# --- files, language, logs ---------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # filled by collectstatic
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

LANGUAGE_CODE = "en"
# A language is offered as soon as somebody puts its catalogue into locale/.
LOCALE_PATHS = [BASE_DIR / "locale"]
_names = {code.replace("-", "_").lower(): (code, name) for code, name in global_settings.LANGUAGES}
_folders = [folder.name.lower() for folder in LOCALE_PATHS[0].glob("*/")]
LANGUAGES = [("en", "English"), *sorted(_names[name] for name in _folders if name in _names)]
TIME_ZONE = "UTC"
USE_TZ = True

# The trained regressor of easiness; "" for the one that ships.
RANKER = env.str("PYRAMID_RANKER", default="")

# The least that an hour of anybody's work may be paid, in dollars; a project may set another.
WAGE_FLOOR = env.str("PYRAMID_WAGE_FLOOR", default="15.00")

# Markets for paid work. Our own exchange is one; CROWD_MARKETS adds others that speak the same protocol, as JSON:
# {"lab": {"endpoint_url": "https://…", "region": "us-east-1", "key_id_variable": "LAB_KEY_ID", "secret_variable": …}}
CROWD_ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "exchange": {
        "endpoint_url": f"{PUBLIC_URL}/exchange/api/",
        "region": "us-east-1",
        "key_id_variable": "EXCHANGE_KEY_ID",
        "secret_variable": "EXCHANGE_SECRET",
        "key_id": env.str("EXCHANGE_KEY_ID", default=""),
        "secret": env.str("EXCHANGE_SECRET", default=""),
        "fees": "none",
        "is_exchange": True,
    }
}
# Seconds between two looks of the workers at a batch on the market; 0: only when somebody asks.
_poll = env.str("CROWD_POLL_SECONDS", default="300")
if not re.fullmatch(r"\d{1,6}", _poll):
    raise ImproperlyConfigured(f"CROWD_POLL_SECONDS is {_poll!r}. Set it to a whole number of seconds; 0 turns it off.")
CROWD_POLL_SECONDS = int(_poll)
_markets = env.json("CROWD_MARKETS", default={})
for _name, _market in _markets.items() if isinstance(_markets, dict) else [("CROWD_MARKETS", None)]:
    _known = {"endpoint_url", "region", "key_id_variable", "secret_variable", "fees"}
    _needed = _known - {"fees"}
    if not (
        isinstance(_market, dict)
        and _needed <= set(_market) <= _known
        and all(isinstance(value, str) for value in _market.values())
        and urlsplit(_market["endpoint_url"]).scheme in {"http", "https"}
        and _market.get("fees", "amazon") in {"amazon", "none"}
        and _name not in CROWD_ENVIRONMENTS
        and re.fullmatch(r"[\w.-]{1,60}", _name)
    ):
        raise ImproperlyConfigured(
            f"CROWD_MARKETS is wrong at {_name!r}. Each market needs {', '.join(sorted(_needed))} "
            "(names of variables, never keys) and may have fees: amazon or none."
        )
    CROWD_ENVIRONMENTS[_name] = dict(_market)

# The trained head of the embedded judge; "" for the one that ships.
JUDGE_HEAD = env.str("PYRAMID_JUDGE_HEAD", default="")
# NLI models that the pages offer beside the embedded judge: hub names or folders. Whoever runs the server names them.
JUDGES = [name for name in env.list("PYRAMID_JUDGES", default=[]) if name]

# AllenNLP in its own room: an interpreter with requirements-allennlp.txt, and where its models lie.
ALLENNLP_PYTHON = env.str("ALLENNLP_PYTHON", default="")
ALLENNLP_MODELS = {
    "srl": env.str("ALLENNLP_SRL", default=""),
    "coref": env.str("ALLENNLP_COREF", default=""),
    "constituency": env.str("ALLENNLP_CONSTITUENCY", default=""),
}
ALLENNLP_SECONDS = env.float("ALLENNLP_SECONDS", default=120.0)

# The largest import, in bytes: one file, or all files of a folder or of an unpacked zip together.
_import_max_mb = env.str("IMPORT_MAX_MB", default="256")
if not re.fullmatch(r"[1-9]\d{0,5}", _import_max_mb):
    raise ImproperlyConfigured(f"IMPORT_MAX_MB is {_import_max_mb!r}. Set it to a whole number of megabytes from 1.")
IMPORT_MAX_BYTES = int(_import_max_mb) * 1024 * 1024
# Web and workers share these folders: on several machines, put PYRAMID_VAR on a disk that all of them see.
UPLOADS_DIR, EXPORTS_DIR = VAR_DIR / "uploads", VAR_DIR / "exports"
FILES_KEPT_DAYS = 7
FILE_UPLOAD_HANDLERS = ["annotation.uploads.LimitedUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_TEMP_DIR = VAR_DIR / "incoming"  # not /tmp, which is often in memory
FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)


# --- API ---------------------------------------------------------------------------------------------------------

# Our own model takes the place of Knox's, which would leave an empty table behind.
MIGRATION_MODULES = {"knox": None}
KNOX_TOKEN_MODEL = "annotation.ApiToken"  # noqa: S105 (the name of a model)
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_TTL": dt.timedelta(days=365), "TOKEN_PREFIX": "pyramid"}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.api.authentication.BearerToken",  # first: it decides that a stranger gets 401
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser", "rest_framework.parsers.FormParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "annotation.api.errors.explain",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Pyramid Workbench",
    "DESCRIPTION": "The corpus, for programs. Make a token on the page “Your account”.",
    "VERSION": "v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SWAGGER_UI_DIST": "SIDECAR",
    # Without the bar of the standalone page: its logo is a data URL, which our policy does not load.
    "SWAGGER_UI_SETTINGS": {"layout": "BaseLayout", "deepLinking": True, "defaultModelsExpandDepth": 0},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "RoleEnum": "annotation.models.Role",
        "StageEnum": "annotation.models.Stage",
        "RunStateEnum": "annotation.models.RunState",
        "UnitKindEnum": "annotation.models.UnitKind",
        "ProvenanceEnum": "annotation.models.Provenance",
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"short": {"()": "workbench.logs.WithoutTraceback"}},
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["short"]}},
    "loggers": {
        "axes": {"level": "WARNING"},  # it would tell of every good login
        "kombu.connection": {"level": "ERROR"},  # it warns that the embedded broker, a folder, has no host
    },
    "root": {
        "handlers": ["console"],
        "level": one_of("LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR"), default="INFO"),
    },
}

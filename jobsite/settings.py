"""Settings of the job site: one file, every knob an environment variable.

Without any variable this is a development checkout: DEBUG on, SQLite, loopback hosts only.
Setting SECRET_KEY makes it a production process: DEBUG off unless asked for.
"""

import os
import sys
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
import environ
from corsheaders.defaults import default_headers
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
env.read_env(BASE_DIR / ".env")

# --- Process -----------------------------------------------------------------------------------

SECRET_KEY = env.str("SECRET_KEY", "")
DEBUG = env.bool("DEBUG", default=not SECRET_KEY)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[])
# Origin (and path prefix) under which the public reaches this service, e.g. https://jobs.example.com.
# Where it is set, absolute URLs never look at the Host header.
PUBLIC_BASE_URL = env.str("PUBLIC_BASE_URL", "").rstrip("/")


def _unsafe() -> list[str]:
    """Say what more than this machine must never be shown."""
    address = urlsplit(PUBLIC_BASE_URL).hostname if PUBLIC_BASE_URL else "localhost"
    bound = env.str("BIND", "localhost:8000").rpartition(":")[0]  # by gunicorn
    loopback = {"localhost", ".localhost", "127.0.0.1", "::1", "[::1]", "unix"}
    is_public = not {address, bound, *ALLOWED_HOSTS} <= loopback
    new_key = """python3 -c 'import secrets; print(secrets.token_urlsafe(50))' makes one."""
    if not SECRET_KEY:
        if DEBUG and not ALLOWED_HOSTS and not PUBLIC_BASE_URL and not is_public:
            return []
        return [f"SECRET_KEY must be set wherever the site serves more than this machine; {new_key}"]
    if DEBUG and not is_public:
        return []
    found = []
    if DEBUG:
        found.append("DEBUG is on: error pages would show source and settings to everybody. Leave it out.")
    if SECRET_KEY.startswith("django-insecure-") or len(SECRET_KEY) < 50 or len(set(SECRET_KEY)) < 10:
        found.append(f"SECRET_KEY can be guessed, it must be 50 random characters or more; {new_key}")
    if not ALLOWED_HOSTS:
        found.append("ALLOWED_HOSTS is empty: name the hosts that the site is reached by.")
    if any("*" in host for host in ALLOWED_HOSTS):
        found.append("ALLOWED_HOSTS has a *: name the hosts, or .example.com for every host below that.")
    return found


UNSAFE = _unsafe()
if UNSAFE and sys.argv[1:2] != ["doctor"]:  # which reports it, with the rest
    raise ImproperlyConfigured("\n- ".join(["Not started: the configuration is unsafe.", *UNSAFE]))
SECRET_KEY = SECRET_KEY or "django-insecure-development-only-key-for-loopback"  # never leaves loopback

ROOT_URLCONF = "jobsite.urls"
WSGI_APPLICATION = "jobsite.wsgi.application"

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "axes",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "corsheaders",
    "django_filters",
    "django_prose_editor",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "rest_framework",
    "jobsite",
    "forms_structure",
    "vacancies",
    "applications",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "jobsite.middleware.security_headers.Headers",
    "jobsite.serving.static_files.WhiteNoiseMiddleware",
    "jobsite.api.cors.CorsMiddleware",
    "jobsite.api.times.TimeZoneMiddleware",
    "jobsite.api.problems.ProblemMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "jobsite.api.caching.ConditionalMiddleware",
    "jobsite.middleware.cookies.CookieMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "jobsite.languages.AdminLanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "jobsite.accounts.lockout.ReleaseMiddleware",
    "axes.middleware.AxesMiddleware",  # last, as it asks
]
APPEND_SLASH = False  # paths of the API have no trailing slash

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
            ]
        },
    }
]

# On stderr: what fails, whether DEBUG is on or not, commands and, unless whoever stands in front does that,
# requests. No line names a person (jobsite/ops/logs.py).
LOG_FORMAT = env.str("LOG_FORMAT", "text" if DEBUG else "json")
LOG_REQUESTS = env.bool("LOG_REQUESTS", default=not DEBUG)
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "jobsite.ops.logs.JsonFormatter"},
        "text": {"()": "jobsite.ops.logs.TextFormatter"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "loggers": {
        "django": {"level": "INFO" if DEBUG else "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},  # anybody can send one; it is a 400
        "gunicorn.error": {"level": "INFO", "propagate": True},
        "jobsite.ops.commands": {"level": "WARNING" if DEBUG else "INFO"},
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
# Where Prometheus may ask for figures (jobsite/ops/metrics.py); nobody may while there is no port.
METRICS_PORT = env.int("METRICS_PORT", default=0)
METRICS_ADDRESS = env.str("METRICS_ADDRESS", "127.0.0.1")

# --- Data --------------------------------------------------------------------------------------

# A connection to PostgreSQL stays with its thread: nothing is cheaper, and what was prepared stays prepared.
# Where there are more threads than connections to be had: a number, for so many in each process, or
# "pgbouncer", where such a one hands them out by the transaction.
DATABASE_POOL = env.str("DATABASE_POOL", "")
# Seconds that a statement may take, and at most two of them for a lock; 0 for no end, as commands need it.
STATEMENT_TIMEOUT = env.int("STATEMENT_TIMEOUT", default=20 if "JOBSITE_SERVES" in os.environ else 0)
REPLICA_MAX_LAG = env.float("REPLICA_MAX_LAG", default=5)  # seconds behind the primary


def postgresql(database: dict[str, Any], pool: str = "") -> dict[str, Any]:
    """Return `database`, read from a URL, completed for PostgreSQL; the options of the URL come first."""
    options: dict[str, Any] = {
        "connect_timeout": 2,
        "keepalives_idle": 30,  # a peer that vanished is noticed within a minute,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,  # and within ten seconds while a query waits for it
    }
    if pool != "pgbouncer":  # which knows neither of these
        options["prepare_threshold"] = 2**31  # only what asks to be prepared is, and planned once
        said: dict[str, Any] = {"plan_cache_mode": "force_generic_plan"}
        if STATEMENT_TIMEOUT:
            lock = min(STATEMENT_TIMEOUT * 333, 2000)  # a bad migration is felt as a refusal, not a wait
            said |= {"statement_timeout": STATEMENT_TIMEOUT * 1000, "lock_timeout": lock}
        options["options"] = " ".join(f"-c {name}={value}" for name, value in said.items())
    if pool.isdecimal():
        options["pool"] = {"min_size": 1, "max_size": int(pool), "timeout": 2}
    return {
        "CONN_MAX_AGE": 0 if "pool" in options else None,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": pool == "pgbouncer",
        **database,
        "OPTIONS": options | database.get("OPTIONS", {}),
    }


DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db_url("DATABASE_URL", default=f"sqlite:///{BASE_DIR / 'db.sqlite3'}")
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A deferred transaction that turns into a write fails at once with "database is locked",
    # whatever the timeout; an immediate one waits.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON",
    }
else:
    DATABASES["default"] = postgresql(DATABASES["default"], DATABASE_POOL)
    if "JOBSITE_SERVES" in os.environ:  # a command may wait
        DATABASES["default"]["ENGINE"] = "jobsite.serving.replicas"
for _number, _url in enumerate(env.list("REPLICA_URLS", default=[]), start=1):
    DATABASES[f"replica_{_number}"] = {
        # A pool would wait for a frozen server without an end.
        **postgresql(env.db_url_config(_url.strip()), DATABASE_POOL if DATABASE_POOL == "pgbouncer" else ""),
        "ENGINE": "jobsite.serving.replicas",
        "CONN_HEALTH_CHECKS": False,  # a read that fails there is done again on the primary
        "TEST": {"MIRROR": "default"},
    }
DATABASE_ROUTERS = ["jobsite.serving.replicas.Router"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The rate limit counts in this cache: give several workers one they share (redis://...).
_CACHE = env.str("CACHE_URL", "locmemcache://")
_CACHE = f"redis{_CACHE.removeprefix('valkey')}" if _CACHE.startswith("valkey") else _CACHE
CACHES: dict[str, dict[str, Any]] = {"default": env.cache_url_config(_CACHE)}
if CACHES["default"]["BACKEND"].endswith(".RedisCache"):
    CACHES["default"]["BACKEND"] = "jobsite.serving.cache.RedisCache"
    CACHES["default"]["VERSION"] = 2  # keys of releases that stored pickles are neither read nor changed

MEDIA_ROOT = BASE_DIR / env.str("MEDIA_ROOT", "media")
MEDIA_URL = "/media/"
# Where nginx has the media internally, such as /_media/: Django says who gets what, nginx sends it.
X_ACCEL_PREFIX = env.str("X_ACCEL_PREFIX", "")
STATIC_ROOT = BASE_DIR / env.str("STATIC_ROOT", "static")
STATIC_URL = "/static/"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_ROOT = BASE_DIR / "jobsite" / "root"  # files at the root of the site, such as /robots.txt
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_AUTOREFRESH = DEBUG

# --- Language and time -------------------------------------------------------------------------

LANGUAGE_CODE = env.str("LANGUAGE_CODE", "en")  # one of LANGUAGES, or a variant such as nl-be
LOCALE_PATHS = [BASE_DIR / "jobsite" / "locale"]  # its translations replace those of Django and unfold
LANGUAGES = [("en", "English"), ("nl", "Dutch"), ("fr", "French"), ("de", "German")]
TIME_ZONE = env.str("TIME_ZONE", "UTC")
USE_TZ = True

# --- Accounts ----------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # a filter with thousands of options is one form
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = not DEBUG
if not DEBUG:  # browsers take such a cookie from this very host only, and over TLS
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
LANGUAGE_COOKIE_HTTPONLY, LANGUAGE_COOKIE_SAMESITE = True, "Lax"
SESSION_COOKIE_AGE = env.int("SESSION_HOURS", default=12) * 3600  # since the sign-in, not since the last page
KNOX_TOKEN_MODEL = "applications.Token"
MIGRATION_MODULES = {"knox": None}  # they would make a table of a model that ours takes the place of
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_MODEL": KNOX_TOKEN_MODEL}
TOKEN_LIFETIME = timedelta(days=env.int("TOKEN_DAYS", default=30))

_MAIL = env.email("EMAIL_URL", default="consolemail://")  # smtp+tls://user:password@host:587
IS_MAIL_SENT = not _MAIL["EMAIL_BACKEND"].endswith(("console.EmailBackend", "dummy.EmailBackend"))
if django.VERSION < (6, 1):
    vars().update(_MAIL)
else:  # where the single settings are deprecated
    _OPTIONS = {
        "host": "EMAIL_HOST",
        "port": "EMAIL_PORT",
        "username": "EMAIL_HOST_USER",
        "password": "EMAIL_HOST_PASSWORD",
        "use_tls": "EMAIL_USE_TLS",
        "use_ssl": "EMAIL_USE_SSL",
        "file_path": "EMAIL_FILE_PATH",
    }
    MAILERS = {
        "default": {
            "BACKEND": _MAIL["EMAIL_BACKEND"],
            "OPTIONS": {option: _MAIL[name] for option, name in _OPTIONS.items() if _MAIL.get(name)},
        }
    }
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="webmaster@localhost")

# Failed sign-ins, by password or by code, in a page or for a token: so many for an account from an address,
# then 429.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# Posts of passwords and codes from an address, to pages and for tokens, while RATE_LIMIT is on.
SIGN_IN_RATE = env.str("SIGN_IN_RATE", "20/min")
# Mails to one account with a link for a new password, whoever asks for them; apart from RATE_LIMIT.
RESET_MAIL_RATE = env.str("RESET_MAIL_RATE", "3/hour")
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_HANDLER = "jobsite.accounts.lockout.Handler"
AXES_CLIENT_IP_CALLABLE = "jobsite.accounts.lockout.address"
AXES_USERNAME_CALLABLE = "jobsite.accounts.lockout.name"
AXES_LOCKOUT_CALLABLE = "jobsite.accounts.lockout.refuse"
AXES_DISABLE_ACCESS_LOG = True  # who signed in when is nobody's business here
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_CLIENT_STR_CALLABLE = "jobsite.ops.logs.network"  # what its log lines say about who failed

# A second factor, passkeys and OpenID Connect: packages of the extra `sso`, in jobsite/accounts/sign_in.py.
SECOND_FACTOR = env.str("SECOND_FACTOR", "off")  # off, optional, or required of whoever enters the workplace
OIDC_ISSUER = env.str("OIDC_ISSUER", "").rstrip("/")
# Domains whose addresses count as verified where the provider does not say whether they are.
OIDC_EMAIL_DOMAINS = env.list("OIDC_EMAIL_DOMAINS", default=[])
OIDC_NAME = env.str("OIDC_NAME", "OpenID Connect")  # as the button says it
if SECOND_FACTOR not in ("off", "optional", "required"):
    raise ImproperlyConfigured(f"SECOND_FACTOR is {SECOND_FACTOR!r}, not off, optional or required.")
if SECOND_FACTOR != "off" or OIDC_ISSUER:
    if find_spec("allauth") is None:
        raise ImproperlyConfigured(
            "SECOND_FACTOR and OIDC_ISSUER need more packages: pip install -r requirements-sso.txt"
        )
    INSTALLED_APPS += ["allauth", "allauth.account"]
    MIDDLEWARE[-2:-2] = [
        "allauth.account.middleware.AccountMiddleware",
        "jobsite.accounts.sign_in.SecondFactorGate",
    ]
    LOGIN_URL = "account-login"
    ACCOUNT_ADAPTER = "jobsite.accounts.sign_in.AccountAdapter"
    # Theirs count codes by account, so whoever knows the password could lock the owner out; SIGN_IN_RATE
    # and AXES_* count them here.
    ACCOUNT_RATE_LIMITS = False
    ACCOUNT_EMAIL_VERIFICATION = "none"  # addresses are kept by whoever manages accounts
if SECOND_FACTOR != "off":
    INSTALLED_APPS += ["django.contrib.humanize", "allauth.mfa"]
    MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
    MFA_PASSKEY_LOGIN_ENABLED = True
    MFA_ALLOW_UNVERIFIED_EMAIL = True
    MFA_TOTP_TOLERANCE = 1  # the code before still counts: clocks differ, people type slowly
    MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEBUG
    MFA_FORMS = {
        "add_webauthn": "jobsite.accounts.sign_in.AddPasskeyForm",
        "authenticate": "jobsite.accounts.sign_in.CodeForm",
        "reauthenticate": "jobsite.accounts.sign_in.CodeConfirmForm",
        "authenticate_webauthn": "jobsite.accounts.sign_in.PasskeyForm",
        "login_webauthn": "jobsite.accounts.sign_in.PasskeyLoginForm",
        "reauthenticate_webauthn": "jobsite.accounts.sign_in.PasskeyConfirmForm",
    }
if OIDC_ISSUER:
    INSTALLED_APPS += ["allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
    SOCIALACCOUNT_ADAPTER = "jobsite.accounts.openid.OidcAdapter"
    SOCIALACCOUNT_LOGIN_ON_GET = True  # a form may lead to this site only, by its content security policy
    SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                {
                    "provider_id": "oidc",
                    "name": OIDC_NAME,
                    "client_id": env.str("OIDC_CLIENT_ID"),
                    "secret": env.str("OIDC_CLIENT_SECRET"),
                    "settings": {"server_url": OIDC_ISSUER},
                }
            ],
        }
    }

# --- What browsers are told --------------------------------------------------------------------

# The content security policies and what goes with them are in jobsite/middleware/security_headers.py.
SECURE_HSTS_SECONDS = env.int(
    "SECURE_HSTS_SECONDS", default=31_536_000 if not DEBUG and PUBLIC_BASE_URL.startswith("https://") else 0
)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.bool("SECURE_HSTS_PRELOAD", default=False)
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=False)
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # other names below this one are for their own operators to decide about,
    "security.W021",  # and the browsers' lists are hard to leave
    "security.W008",  # the proxy that ends TLS redirects: this service never sees such a request
    "mail.E001",  # of Django 6.1: a site without mail gets the warning of jobsite/ops/checks.py
]
if django.VERSION < (6, 1):  # where it is the default
    SIGNED_COOKIE_LEGACY_SALT_FALLBACK = False  # CVE-2026-6873

# --- The public interface ----------------------------------------------------------------------

MULTI_BRANDING = env.bool("MULTI_BRANDING", default=True)
INTERNAL_ACCESS = env.str("INTERNAL_ACCESS", "public")  # public, authenticated or network
INTERNAL_NETWORKS = env.list("INTERNAL_NETWORKS", default=[])
TRUSTED_PROXIES = env.list("TRUSTED_PROXIES", default=[])  # whose X-Forwarded-For is believed
PAGE_SIZE_MAX = env.int("PAGE_SIZE_MAX", default=100)
PUBLIC_MAX_AGE = 60  # seconds an edge cache may keep an answer, cut short by the next change of the clock
APPLICATION_HISTORY = env.bool("APPLICATION_HISTORY", default=True)  # whether applicants see their steps
APPLICATIONS_KEPT_DAYS = env.int("APPLICATIONS_KEPT_DAYS", default=0)  # 0: purge_applications must be told
# Who was erased, by marks that name nobody, for `restore` to erase again: outside the database, and kept
# where the backups are.
ERASURE_LOG = env.str("ERASURE_LOG", "")
# Signs what `backup` writes; `restore` then takes nothing else. Earlier keys verify, and sign nothing.
BACKUP_KEY = env.str("BACKUP_KEY", "")
BACKUP_KEY_FALLBACKS = [key.strip() for key in env.list("BACKUP_KEY_FALLBACKS", default=[])]
BODY_CACHE_MB = env.int("BODY_CACHE_MB", default=64)  # public answers kept per process; 0 keeps none
LIST_CACHE_MB = env.int("LIST_CACHE_MB", default=8)  # ids of narrowed and sorted lists kept per process
RATE_LIMIT = env.str("RATE_LIMIT", "600/min")  # per client address, or "off"
FORM_DEPTH_MAX = env.int("FORM_DEPTH_MAX", default=5)  # levels of conditional fields
# What the OpenAPI document says to developers: the licence of the data, and whom to ask.
API_LICENSE = env.str("API_LICENSE", "")  # an SPDX expression or a URL; empty: all rights reserved
API_CONTACT = env.str("API_CONTACT", "")  # an e-mail address or a URL
V0_1_DEPRECATED_AT = env.str("V0_1_DEPRECATED_AT", "")  # ISO dates; empty: not deprecated
V0_1_SUNSET_AT = env.str("V0_1_SUNSET_AT", "")

CORS_ALLOWED_ORIGINS = env.list("CORS_ALLOWED_ORIGINS", default=["*"])
CORS_ALLOW_ALL_ORIGINS = CORS_ALLOWED_ORIGINS == ["*"]
if CORS_ALLOW_ALL_ORIGINS:
    CORS_ALLOWED_ORIGINS = []
CORS_URLS_REGEX = r"^/(v1|v0\.1|openapi\.json|media)(/|$)"
CORS_ALLOW_HEADERS = [*default_headers, "if-none-match", "traceparent", "x-request-id"]
CORS_ALLOW_METHODS = ["GET", "HEAD", "OPTIONS", "POST", "DELETE"]
CORS_EXPOSE_HEADERS = [
    "Content-Disposition", "Deprecation", "ETag", "Form-Version", "Link", "Retry-After", "Sunset",
    "Time-Zone", "WWW-Authenticate", "X-Request-ID",
]  # fmt: skip

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["jobsite.api.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # first: its WWW-Authenticate makes a refusal a 401
        "jobsite.api.authentication.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["jobsite.api.throttling.RateLimit"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "jobsite.api.renderers.ContentNegotiation",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "jobsite.api.problems.exception_handler",
    "URL_FORMAT_OVERRIDE": None,
    "DATETIME_FORMAT": "%Y-%m-%d %H:%M:%S",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

# --- Look and feel -----------------------------------------------------------------------------


UNFOLD = {
    "SITE_TITLE": "Jobsite",
    "SITE_HEADER": "Jobsite",
    "SITE_SYMBOL": "work",
    "SITE_URL": "/docs",
    "SHOW_VIEW_ON_SITE": True,
    "SHOW_LANGUAGES": True,
    "DASHBOARD_CALLBACK": "vacancies.admin.dashboard.start_page",
    "STYLES": [lambda request: static("jobsite/admin.css")],
    "SCRIPTS": [lambda request: static("jobsite/admin.js")],
    "SIDEBAR": {
        "show_search": True,
        "navigation": "jobsite.admin.menu.navigation",
    },
}

# --- The OpenAPI document and its page ---------------------------------------------------------

SPECTACULAR_SETTINGS = {
    "TITLE": "Vacancies of the job site",
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": ["jobsite.api.document.complete"],  # adds version, description and servers
    "TAGS": [
        {"name": "Vacancies", "description": "Lists of published vacancies, and one vacancy."},
        {"name": "Forms", "description": "What applicants are asked, and how to validate their answers."},
        {"name": "Applications", "description": "What a signed-in user applied to, and signing in."},
        {"name": "Filters", "description": "What lists can be narrowed by."},
        {"name": "Vacancies v0.1", "description": "The older version, with single-value fields."},
    ],
    "SORT_OPERATIONS": False,  # as the URLs have them: v1 first
    "SORT_OPERATION_PARAMETERS": False,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "displayRequestDuration": True,
        "defaultModelsExpandDepth": 0,
        "docExpansion": "list",
        "persistAuthorization": True,
        "tryItOutEnabled": True,
        "validatorUrl": None,  # the default sends the document to another host
    },
}

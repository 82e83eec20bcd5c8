"""Settings of the job site. Every option is an environment variable; all are read here.

Without variables this is a development checkout: DEBUG on, SQLite, loopback hosts only.
With SECRET_KEY it is a production process: DEBUG is off unless it is set.
"""

import os
from datetime import timedelta
from email.utils import formataddr, parseaddr
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import django
from corsheaders.defaults import default_headers
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from js_asset import static_lazy

from jobsite.appearance import palette
from jobsite.db.connection_settings import postgresql
from jobsite.environment import env, unsafe_settings
from jobsite.object_store import url as files_url
from jobsite.release import commit_in, version_in
from jobsite.text.iso_codes import COUNTRIES
from jobsite.text.iso_codes import LANGUAGES as LANGUAGE_CODES

BASE_DIR = Path(__file__).resolve().parent.parent

env.read_env(BASE_DIR / ".env")

# Read when the process starts: a checkout of another release does not change what it runs.
VERSION = version_in(BASE_DIR)
COMMIT = env.str("COMMIT", "").strip() or commit_in(BASE_DIR)

# --- Process -----------------------------------------------------------------------------------

SECRET_KEY = env.str("SECRET_KEY", "")
DEBUG = env.bool("DEBUG", default=not SECRET_KEY)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[])
# Origin and path prefix of the public address, such as https://jobs.example.com. If set, absolute
# URLs use it instead of the Host header.
PUBLIC_BASE_URL = env.str("PUBLIC_BASE_URL", "").rstrip("/")

_UNSAFE = unsafe_settings(
    secret_key=SECRET_KEY,
    debug=DEBUG,
    allowed_hosts=ALLOWED_HOSTS,
    public_base_url=PUBLIC_BASE_URL,
    bind=env.str("BIND", "localhost:8000"),
)
if _UNSAFE:
    raise ImproperlyConfigured("\n- ".join(["Not started: the configuration is unsafe.", *_UNSAFE]))
SECRET_KEY = SECRET_KEY or "django-insecure-development-only-key-for-loopback"  # only for loopback
# Earlier keys, which only verify; and sign the requests of webhooks beside the new one.
SECRET_KEY_FALLBACKS = [key.strip() for key in env.list("SECRET_KEY_FALLBACKS", default=[])]

ROOT_URLCONF = "jobsite.urls"
WSGI_APPLICATION = "jobsite.wsgi.application"

# The appearance of the site: on every page of the admin and of applicants, and in the sender of
# emails.
SITE_NAME = env.str("SITE_NAME", "Jobsite")
SITE_COLOR = env.color("SITE_COLOR", "#0b57b0")
SITE_LOGO = env.image_url("SITE_LOGO")

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "jobsite.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.forms",
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
    "jobsite.middleware.security_headers.SecurityHeadersMiddleware",
    "jobsite.serving.static_files.WhiteNoiseMiddleware",
    "jobsite.api.cors.CorsMiddleware",
    "jobsite.api.times.TimeZoneMiddleware",
    "jobsite.api.problems.ProblemMiddleware",
    "jobsite.serving.trailing_slash.trailing_slash",
    "django.middleware.gzip.GZipMiddleware",
    "jobsite.api.caching.ConditionalMiddleware",
    "jobsite.middleware.cookies.CookieMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "jobsite.languages.AdminLanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "jobsite.site.hosts.BrandHostMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "jobsite.accounts.lockout.ReleaseMiddleware",
    "axes.middleware.AxesMiddleware",  # has to be last
]
# Those without an effect on public reads of the API (jobsite/serving/read_handler.py).
PAGE_MIDDLEWARE = [
    "jobsite.serving.static_files.WhiteNoiseMiddleware",
    "jobsite.serving.trailing_slash.trailing_slash",
    "jobsite.languages.AdminLanguageMiddleware",
    "jobsite.site.hosts.BrandHostMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "jobsite.accounts.lockout.ReleaseMiddleware",
    "axes.middleware.AxesMiddleware",
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
                "jobsite.appearance.context",
                "jobsite.site.hosts.context",
            ],
            "libraries": {
                "people": "applications.admin.people",
                "site_links": "jobsite.site.hosts",
            },
            "builtins": ["jobsite.form_renderer"],
        },
    }
]

# Templates of widgets can be overridden: templates/unfold/widgets/.
FORM_RENDERER = "jobsite.form_renderer.FormRenderer"

# Extensions of the rich text editor. The fields sanitise their texts themselves.
DJANGO_PROSE_EDITOR_EXTENSIONS = [
    {
        "extensions": {"PastedTable": "django_prose_editor.config.process_table"},
        "js": [static_lazy("vacancies/pasted_table.js")],
    }
]

# Errors, commands and requests are logged to stderr. Log lines contain no personal data
# (jobsite/ops/logs.py). Set LOG_REQUESTS to off if a proxy in front of the site logs requests.
LOG_FORMAT = env.choice("LOG_FORMAT", "text" if DEBUG else "json", ("json", "text"))
LOG_REQUESTS = env.bool("LOG_REQUESTS", default=not DEBUG)
LOGGING: dict[str, object] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "jobsite.ops.logs.JsonFormatter"},
        "text": {"()": "jobsite.ops.logs.TextFormatter"},
    },
    "filters": {"refused": {"()": "jobsite.ops.logs.RefusedFilter"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["refused"],
        }
    },
    "loggers": {
        "django": {"level": "INFO" if DEBUG else "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},  # clients cause it; they get a 400
        "gunicorn.error": {"level": "INFO", "propagate": True},
        "jobsite.dispatch": {"level": "INFO"},
        "jobsite.ops.commands": {"level": "WARNING" if DEBUG else "INFO"},
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
# Where Prometheus reads the metrics (jobsite/ops/metrics.py); 0 exposes none.
METRICS_PORT = env.int("METRICS_PORT", default=0, most=65535)
METRICS_ADDRESS = env.str("METRICS_ADDRESS", "127.0.0.1")
# Read by gunicorn; commands report errors.
WEB_CONCURRENCY = env.int("WEB_CONCURRENCY", default=2, least=1)
WEB_THREADS = env.int("WEB_THREADS", default=4, least=1)

# --- Data --------------------------------------------------------------------------------------

# By default each thread keeps its own PostgreSQL connection, which is fastest and keeps prepared
# statements. If there are more threads than connections: the pool size of each process, or
# "pgbouncer" if one runs in transaction mode.
DATABASE_POOL = env.str("DATABASE_POOL", "")
# Seconds that a statement may take, at most two of them waiting for a lock; 0 for no limit, as
# commands need.
STATEMENT_TIMEOUT = env.int(
    "STATEMENT_TIMEOUT", default=20 if "JOBSITE_SERVES" in os.environ else 0
)
# The address of streaming replicas, for public reads. HAProxy or another program chooses the
# server.
REPLICA_URL = env.str("REPLICA_URL", "").strip()
if REPLICA_URL.count("://") > 1:
    raise ImproperlyConfigured(
        "REPLICA_URL has several addresses: set one, at which HAProxy chooses the replica "
        "(docs/operations/cluster.md)."
    )
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.database("DATABASE_URL", default=f"sqlite:///{BASE_DIR / 'db.sqlite3'}")
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A deferred transaction that becomes a write fails immediately with "database is locked" and
    # ignores the timeout; an immediate transaction waits.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON"
        ),
    }
else:
    DATABASES["default"] = postgresql(
        DATABASES["default"], pool=DATABASE_POOL, statement_timeout=STATEMENT_TIMEOUT
    )
if REPLICA_URL:
    DATABASES["replica"] = {
        **postgresql(
            env.database("REPLICA_URL"),
            pool=DATABASE_POOL if DATABASE_POOL == "pgbouncer" else "",
            statement_timeout=STATEMENT_TIMEOUT,
        ),
        # Never reconnect within a request: its revision and its rows must be from one server.
        "CONN_HEALTH_CHECKS": False,
        "TEST": {"MIRROR": "default"},
    }
for _database in DATABASES.values():
    if "JOBSITE_SERVES" in os.environ and _database["ENGINE"] == "django.db.backends.postgresql":
        # Commands may wait for a server that hangs.
        _database["ENGINE"] = "jobsite.serving.postgresql"
DATABASE_ROUTERS = ["jobsite.serving.replica.Router"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Counters in the memory of a process, 300 bytes each. Above it, the oldest third is removed: with
# Django's default of 300, requests from a few hundred other addresses reset the counter of a
# client.
COUNTERS_MAX = 100_000
# Holds the counters of the rate limits. Several workers need a shared one (redis://...).
CACHES: dict[str, dict[str, Any]] = {"default": env.cache_server("CACHE_URL", "locmemcache://")}
if CACHES["default"]["BACKEND"].endswith(".RedisCache"):
    CACHES["default"]["BACKEND"] = "jobsite.serving.cache.RedisCache"
elif CACHES["default"]["BACKEND"].endswith(".LocMemCache"):
    CACHES["default"].setdefault("OPTIONS", {}).setdefault("MAX_ENTRIES", COUNTERS_MAX)

MEDIA_ROOT = BASE_DIR / env.str("MEDIA_ROOT", "media")
MEDIA_URL = "/media/"
# nginx's internal location of the media, such as /_media/: Django checks permission, nginx sends
# the file.
X_ACCEL_PREFIX = env.str("X_ACCEL_PREFIX", "")
# Files of applicants. They are served in the admin only, so the folder is not below MEDIA_ROOT.
PRIVATE_ROOT = BASE_DIR / env.str("PRIVATE_ROOT", "private")
STATIC_ROOT = BASE_DIR / env.str("STATIC_ROOT", "static")
STATIC_URL = "/static/"
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "jobsite.serving.static_files.StaticFilesStorage"
    },
}
# A bucket for the files of MEDIA_ROOT and PRIVATE_ROOT, which several nodes share
# (jobsite/object_store).
_FILES_URL = env.str("FILES_URL", "")
FILES_IN_BUCKET = bool(_FILES_URL)
# Threads of this process that may wait for the bucket at a time; 0 in commands: any number.
FILES_THREADS = max(1, WEB_THREADS // 2) if "JOBSITE_SERVES" in os.environ else 0
if FILES_IN_BUCKET:
    try:
        _BUCKET = files_url.parse(_FILES_URL)
    except ValueError as _error:
        raise ImproperlyConfigured(str(_error)) from None
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise ImproperlyConfigured(
            "FILES_URL needs more packages: pip install -r requirements-s3.txt"
        )
    if X_ACCEL_PREFIX:
        raise ImproperlyConfigured(
            "X_ACCEL_PREFIX is for files on this machine: unset it, or FILES_URL."
        )
    for _alias, _folder in (("default", "media"), ("private", "private")):
        STORAGES[_alias] = {
            "BACKEND": "jobsite.object_store.storage.ObjectStorage",
            "OPTIONS": {**_BUCKET, "location": _folder},
        }
# Files at the root of the site, such as /favicon.ico.
WHITENOISE_ROOT = BASE_DIR / "jobsite" / "root"
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_AUTOREFRESH = DEBUG

# --- Language and time -------------------------------------------------------------------------

# Its translations replace those of Django and unfold.
LOCALE_PATHS = [BASE_DIR / "jobsite" / "locale"]
FORMAT_MODULE_PATH = "jobsite.locale"
LANGUAGES = [("en", "English"), ("nl", "Dutch"), ("fr", "French"), ("de", "German")]
LANGUAGE_CODE = env.language("LANGUAGE_CODE", "en", dict(LANGUAGES))
# Further languages that the texts of a vacancy may have (ISO 639-1).
TEXT_LANGUAGES = env.languages("TEXT_LANGUAGES", LANGUAGE_CODES)
TIME_ZONE = env.time_zone("TIME_ZONE", "UTC")
USE_TZ = True

# --- Accounts ----------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": name}
    for name in (
        "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "django.contrib.auth.password_validation.MinimumLengthValidator",
        "django.contrib.auth.password_validation.CommonPasswordValidator",
        "django.contrib.auth.password_validation.NumericPasswordValidator",
        "jobsite.accounts.passwords.VarietyValidator",
    )
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # a filter with thousands of options is one form
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = not DEBUG
if not DEBUG:  # browsers accept such cookies only over TLS and from this exact host
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
LANGUAGE_COOKIE_HTTPONLY, LANGUAGE_COOKIE_SAMESITE = True, "Lax"
# Counted from the sign-in.
SESSION_COOKIE_AGE = env.int("SESSION_HOURS", default=12, least=1) * 3600
KNOX_TOKEN_MODEL = "applications.Token"
MIGRATION_MODULES = {"knox": None}  # our token model replaces the one that they create
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_MODEL": KNOX_TOKEN_MODEL}
TOKEN_LIFETIME = timedelta(days=env.int("TOKEN_DAYS", default=30, least=1))

_MAIL = env.mail_server("EMAIL_URL", default="consolemail://")  # smtp+tls://user:password@host:587
IS_MAIL_SENT = not _MAIL["EMAIL_BACKEND"].endswith(("console.EmailBackend", "dummy.EmailBackend"))
if django.VERSION < (6, 1):
    vars().update(_MAIL)
else:  # it deprecates the individual settings
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
            "OPTIONS": {
                option: _MAIL[name] for option, name in _OPTIONS.items() if _MAIL.get(name)
            },
        }
    }
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="webmaster@localhost")
if SITE_NAME != "Jobsite" and not parseaddr(DEFAULT_FROM_EMAIL)[0]:
    DEFAULT_FROM_EMAIL = formataddr((SITE_NAME, DEFAULT_FROM_EMAIL))
REPLY_MAILBOX = env.str("REPLY_MAILBOX", "")  # with the answers of calendar programs to invitations
# Of senders of brands, besides that of DEFAULT_FROM_EMAIL.
SENDER_DOMAINS = env.domains("SENDER_DOMAINS")

# Failed sign-ins, by password or code: 429 after AXES_FAILURE_LIMIT for one account from one
# address.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "jobsite.accounts.passwords.PublicPasswordBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# Passwords and codes that one address may submit, on pages and for tokens; off if RATE_LIMIT is
# off.
SIGN_IN_RATE = env.str("SIGN_IN_RATE", "20/min")
# Password reset mails to one account; independent of RATE_LIMIT.
RESET_MAIL_RATE = env.str("RESET_MAIL_RATE", "3/hour")
# Receipts and confirmations to one e-mail address, which anybody can enter; independent of
# RATE_LIMIT.
RECEIPT_RATE = env.str("RECEIPT_RATE", "5/hour")
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_HANDLER = "jobsite.accounts.lockout.Handler"
AXES_CLIENT_IP_CALLABLE = "jobsite.accounts.lockout.address"
AXES_USERNAME_CALLABLE = "jobsite.accounts.lockout.name"
AXES_LOCKOUT_CALLABLE = "jobsite.accounts.lockout.refuse"
AXES_DISABLE_ACCESS_LOG = True  # store no record of successful sign-ins
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
# Logs the network of the client, not its address.
AXES_CLIENT_STR_CALLABLE = "jobsite.ops.logs.network"

# A second factor for the admin, passkeys and OpenID Connect (jobsite/accounts/sign_in.py). Needs
# the extra `sso`.
SECOND_FACTOR = env.choice("SECOND_FACTOR", "off", ("off", "optional", "required"))
OIDC_ISSUER = env.str("OIDC_ISSUER", "").rstrip("/")
# Domains whose e-mail addresses count as verified if the provider does not send `email_verified`.
OIDC_EMAIL_DOMAINS = env.list("OIDC_EMAIL_DOMAINS", default=[])
OIDC_NAME = env.str("OIDC_NAME", "OpenID Connect")  # label of the button
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
    # allauth counts codes by account, so someone who knows the password could lock the owner out.
    # SIGN_IN_RATE and AXES_* limit codes instead.
    ACCOUNT_RATE_LIMITS = False
    ACCOUNT_EMAIL_VERIFICATION = "none"  # administrators maintain the addresses
if SECOND_FACTOR != "off":
    INSTALLED_APPS += ["django.contrib.humanize", "allauth.mfa"]
    MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
    MFA_PASSKEY_LOGIN_ENABLED = True
    MFA_ALLOW_UNVERIFIED_EMAIL = True
    MFA_TOTP_TOLERANCE = 1  # also accept the previous code: clocks differ
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
    # The content security policy forbids forms that lead to other sites.
    SOCIALACCOUNT_LOGIN_ON_GET = True
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

# --- Security headers --------------------------------------------------------------------------

# The content security policies are in jobsite/middleware/security_headers.py.
SECURE_HSTS_SECONDS = env.int(
    "SECURE_HSTS_SECONDS",
    default=31_536_000 if not DEBUG and PUBLIC_BASE_URL.startswith("https://") else 0,
)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.bool("SECURE_HSTS_PRELOAD", default=False)
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=False)
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # HSTS for subdomains is the decision of their operators,
    "security.W021",  # and leaving the browsers' preload lists is hard
    "security.W008",  # the proxy that terminates TLS redirects http:// requests
    "mail.E001",  # Django 6.1; jobsite/ops/checks.py warns about a site without mail
]
if django.VERSION < (6, 1):  # where it is the default
    SIGNED_COOKIE_LEGACY_SALT_FALLBACK = False  # CVE-2026-6873

# --- API ---------------------------------------------------------------------------------------

MULTI_BRANDING = env.bool("MULTI_BRANDING", default=True)
INTERNAL_ACCESS = env.str("INTERNAL_ACCESS", "public")  # public, authenticated or network
INTERNAL_NETWORKS = env.list("INTERNAL_NETWORKS", default=[])
# Proxies whose X-Forwarded-For is trusted.
TRUSTED_PROXIES = env.list("TRUSTED_PROXIES", default=[])
PAGE_SIZE_MAX = env.int("PAGE_SIZE_MAX", default=100)
PUBLIC_MAX_AGE = 60  # seconds; shorter if a vacancy is published or expires sooner
# Whether applicants see their interviews and tasks.
APPLICATION_HISTORY = env.bool("APPLICATION_HISTORY", default=True)
# Private networks and ports, besides 443, at which receivers of webhooks may be.
WEBHOOK_ALLOW_NETWORKS = env.networks("WEBHOOK_ALLOW_NETWORKS")
WEBHOOK_PORTS = env.ports("WEBHOOK_PORTS")
# How long clients of a feed may stay away before they have to read the list anew.
CHANGES_KEPT_DAYS = env.int("CHANGES_KEPT_DAYS", default=90, least=1)
# The retention period in days, see the command `purge`; 0: none.
APPLICATIONS_KEPT_DAYS = env.int("APPLICATIONS_KEPT_DAYS", default=0)
# How long a consent to the talent pool is valid. Without limit, a consent would not be specific.
POOL_MONTHS = env.int("POOL_MONTHS", default=24, least=2, most=36)
# Countries (ISO 3166-1) whose vacancies get a content warning without pay.
PAY_REQUIRED_IN = env.countries("PAY_REQUIRED_IN", COUNTRIES)
# Countries where applicants have to know the pay before an interview.
PAY_TOLD_IN = env.countries("PAY_TOLD_IN", COUNTRIES)
# A file with hashes of erased accounts, from which `restore` erases them again. Keep it with the
# backups.
ERASURE_LOG = env.str("ERASURE_LOG", "")
# Signs backups; `restore` then rejects unsigned archives. The fallbacks are earlier keys, which
# only verify.
BACKUP_KEY = env.str("BACKUP_KEY", "")
BACKUP_KEY_FALLBACKS = [key.strip() for key in env.list("BACKUP_KEY_FALLBACKS", default=[])]
# A virus scanner for files of applicants, such as clamd:/run/clamd.sock; empty: files are not
# scanned.
ANTIVIRUS = env.str("ANTIVIRUS", "")
# When a submission needs a proof of work: auto (while a vacancy receives many), always or off.
APPLY_PROOF = env.choice("APPLY_PROOF", "auto", ("auto", "always", "off"))
# Serve /jobs: pages of the vacancies for visitors.
CAREER_SITE = env.bool("CAREER_SITE", default=False)
APPLY_PAGES = env.bool("APPLY_PAGES", default=CAREER_SITE)  # serve /apply/<id>
# The response cache of each process; 0 disables it.
RESPONSE_CACHE_MB = env.int("RESPONSE_CACHE_MB", default=64)
# Ids of filtered and sorted lists, for each process.
LIST_CACHE_MB = env.int("LIST_CACHE_MB", default=8)
RATE_LIMIT = env.str("RATE_LIMIT", "600/min")  # per client address, or "off"
INTEGRATION_RATE = env.str("INTEGRATION_RATE", "300/min")  # of /v1/manage/, per integration
FORM_DEPTH_MAX = env.int("FORM_DEPTH_MAX", default=5)  # levels of conditional fields
# Licence of the data and contact for developers, in the OpenAPI document.
API_LICENSE = env.str("API_LICENSE", "")  # an SPDX expression or a URL; empty: all rights reserved
API_CONTACT = env.str("API_CONTACT", "")  # an e-mail address or a URL
V0_1_DEPRECATED_AT = env.str("V0_1_DEPRECATED_AT", "")  # ISO dates; empty: not deprecated
V0_1_SUNSET_AT = env.str("V0_1_SUNSET_AT", "")

CORS_ALLOWED_ORIGINS = env.list("CORS_ALLOWED_ORIGINS", default=["*"])
CORS_ALLOW_ALL_ORIGINS = CORS_ALLOWED_ORIGINS == ["*"]
if CORS_ALLOW_ALL_ORIGINS:
    CORS_ALLOWED_ORIGINS = []
CORS_URLS_REGEX = r"^/(v1|v0\.1|openapi\.json|media|embed\.js)(/|$)"
CORS_ALLOW_HEADERS = [
    *default_headers,
    "idempotency-key",
    "if-none-match",
    "traceparent",
    "x-request-id",
]
CORS_ALLOW_METHODS = ["GET", "HEAD", "OPTIONS", "POST", "DELETE"]
CORS_EXPOSE_HEADERS = [
    "Apply",
    "Content-Disposition",
    "Deprecation",
    "ETag",
    "Form-Version",
    "Link",
    "Retry-After",
    "Sunset",
    "Time-Zone",
    "WWW-Authenticate",
    "X-Request-ID",
]

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["jobsite.api.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # first: its WWW-Authenticate header turns a 403 into a 401
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
    "SITE_TITLE": SITE_NAME,
    "SITE_HEADER": SITE_NAME,
    "SITE_SYMBOL": "work",
    "SITE_LOGO": SITE_LOGO or None,
    "COLORS": {"primary": palette(SITE_COLOR)},
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda request: static("jobsite/favicon.svg"),
        }
    ],
    "SITE_URL": None,  # there is no public home page: vacancies have "View on site"
    "SHOW_VIEW_ON_SITE": True,
    "SHOW_LANGUAGES": True,
    "DASHBOARD_CALLBACK": "jobsite.office.start_page.dashboard",
    "STYLES": [lambda request: static("jobsite/admin.css")],
    "SCRIPTS": [
        lambda request: static("jobsite/admin.js"),
        lambda request: static("jobsite/accessibility.js"),
        lambda request: static("jobsite/search.js"),
    ],
}

# --- The OpenAPI document and its page ---------------------------------------------------------

SPECTACULAR_SETTINGS = {
    "TITLE": "Vacancies of the job site",
    "OAS_VERSION": "3.1.0",
    # Adds version, description and servers.
    "POSTPROCESSING_HOOKS": ["jobsite.api.document.complete"],
    "TAGS": [
        {"name": "Vacancies", "description": "Lists of published vacancies, and one vacancy."},
        {
            "name": "Forms",
            "description": "Application forms, and the JSON Schema of their submissions.",
        },
        {
            "name": "Applications",
            "description": "What a signed-in user applied to, and signing in.",
        },
        {"name": "Filters", "description": "Filters of the lists, with their options."},
        {"name": "Vacancies v0.1", "description": "The older version, with single-value fields."},
    ],
    "SORT_OPERATIONS": False,  # in the order of the URLs: v1 first
    "SORT_OPERATION_PARAMETERS": False,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "",  # templates/docs.html has the site's icon
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "displayRequestDuration": True,
        "defaultModelsExpandDepth": 0,
        "docExpansion": "list",
        "persistAuthorization": True,
        "tryItOutEnabled": True,
        "validatorUrl": None,  # the default sends the document to a third party
    },
}

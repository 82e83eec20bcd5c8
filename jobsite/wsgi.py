"""The WSGI application that gunicorn serves."""

import ctypes
import logging
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from wsgiref.types import StartResponse, WSGIEnvironment

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application
from django.db import DEFAULT_DB_ALIAS, Error, connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
os.environ["JOBSITE_SERVES"] = "1"  # commands get longer timeouts

try:
    _pages = get_wsgi_application()
except ImproperlyConfigured as error:
    sys.stderr.write(f"{error}\n")
    sys.exit(3)  # gunicorn stops, instead of starting this worker again

# These need the settings.
from jobsite.api.caching import REQUEST_TIME
from jobsite.api.problems import LOCKED
from jobsite.ops import health
from jobsite.ops.logs import Requests
from jobsite.serving import SOURCE, replica
from jobsite.serving.read_handler import ReadHandler
from jobsite.serving.replica import REPLICA
from jobsite.serving.response_cache import PREFIXES, ResponseCache, run_wsgi
from jobsite.serving.revision import read_state
from vacancies.statistics.visits import count_visit

# glibc returns the memory of each large body to the kernel and takes it again, page by page, for the
# next one: 8 % of a list. Other C libraries have no such function.
KEPT = 8 * 2**20  # bytes of free memory that are not returned
with suppress(AttributeError):
    for _setting in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        ctypes.CDLL(None).mallopt(_setting, KEPT)

IS_POOLED = bool(connections["default"].settings_dict["OPTIONS"].get("pool"))
_reads = ReadHandler()

logger = logging.getLogger(__name__)


def _bare(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Call Django. The response cache adds the time of the request to public reads."""
    is_read = REQUEST_TIME in environ and environ["PATH_INFO"].startswith(PREFIXES)
    return (_reads if is_read else _pages)(environ, start_response)


_django = ResponseCache(_bare, read_state)


def _site(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Call Django behind the response cache, public reads on the replica if there is one. Of the
    parameters of Content-Type, keep only the boundary of a form.

    Django decodes the query string in the charset of that header, before any middleware runs: an
    unknown charset would give a bare 500, and a known one would poison caches. Forms are UTF-8
    here.
    """
    if ";" in environ.get("CONTENT_TYPE", ""):
        media_type, *parameters = environ["CONTENT_TYPE"].split(";")
        boundary = [p for p in parameters if p.strip().lower().startswith("boundary=")]
        environ["CONTENT_TYPE"] = ";".join([media_type, *boundary[:1]])
    is_public = (IS_POOLED or replica.is_configured()) and ResponseCache.key(environ) is not None
    try:
        if is_public and replica.is_configured() and not _is_recruiter(environ):
            return _read(environ, start_response)
        return _django(environ, start_response)
    finally:
        if IS_POOLED and is_public:  # Django closes only connections of its own responses
            connections[DEFAULT_DB_ALIAS].close()


def _is_recruiter(environ: WSGIEnvironment) -> bool:
    """Whether the client may be a recruiter, who must see their own saves at once."""
    is_preview = "preview=" in environ.get("QUERY_STRING", "")
    return is_preview or f"{settings.SESSION_COOKIE_NAME}=" in environ.get("HTTP_COOKIE", "")


def _read(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer a public read on the replica. Retry once on the primary, unless it waited for a lock,
    which the primary has too.

    If the primary is unavailable too, try the replica once more: during a failover, HAProxy closes
    the connections to the server that becomes the primary. A new connection leads to another
    replica.
    """
    status, headers, body = "", list[tuple[str, str]](), b""
    for alias in (REPLICA, DEFAULT_DB_ALIAS, REPLICA):
        try:
            with replica.reading(alias):
                status, headers, body = run_wsgi(_django, copy := dict(environ))
            failure = status if status.startswith("5") else ""
        except Error as error:
            failure = type(error).__name__
        if alias == REPLICA:
            _log_replica(failure)
        if (
            not failure
            or LOCKED in copy
            or (alias == DEFAULT_DB_ALIAS and not status.startswith("503"))
        ):
            break
        if alias == REPLICA:
            connections[REPLICA].close()
    environ[SOURCE] = copy.get(SOURCE, "view")
    start_response(status, headers)
    return [body]


_replica_failed = False


def _log_replica(failure: str) -> None:
    """Log that the replica fails or answers again, once in this process."""
    global _replica_failed
    if failure and not _replica_failed:
        logger.warning("The replica fails (%s): the primary answers", failure)
    elif _replica_failed and not failure:
        logger.warning("The replica answers again")
    _replica_failed = bool(failure)


count = None
if settings.METRICS_PORT:
    from applications import metrics as of_applications
    from jobsite.ops import metrics
    from vacancies import metrics as of_vacancies

    metrics.start(lambda: chain(of_vacancies.collect(), of_applications.collect()))
    count = metrics.count

_requests = Requests(
    _site, count, settings.LOG_REQUESTS, count_visit=count_visit if settings.CAREER_SITE else None
)


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """The site, and the probes of load balancers."""
    if environ.get("PATH_INFO") in health.PATHS:
        return health.application(environ, start_response)
    return _requests(environ, start_response)

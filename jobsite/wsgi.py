"""The callable that gunicorn serves."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import DatabaseError, connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
os.environ["JOBSITE_SERVES"] = "1"  # commands may take longer

_bare = get_wsgi_application()

from jobsite.ops import health  # noqa: E402 - these need the settings
from jobsite.ops.logs import Requests  # noqa: E402
from jobsite.serving import SOURCE, replicas  # noqa: E402
from jobsite.serving.response_cache import Bodies, finished  # noqa: E402
from jobsite.serving.revision import state  # noqa: E402
from vacancies.api.fast_path import Shortcut  # noqa: E402

IS_POOLED = bool(connections["default"].settings_dict["OPTIONS"].get("pool"))
_django = Bodies(_bare, state, Shortcut())


def _site(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
    """Django, with the parameters of Content-Type cut off but for the boundary of a form.

    Django decodes the query string in the charset that header names, before any middleware runs: an
    unknown charset would be a bare 500, a known one would poison caches. Forms are UTF-8 here.
    """
    media_type, *parameters = environ.get("CONTENT_TYPE", "").split(";")
    boundary = [p for p in parameters if p.strip().lower().startswith("boundary=")]
    environ["CONTENT_TYPE"] = ";".join([media_type, *boundary[:1]])
    alias = replicas.choose()
    is_public = (IS_POOLED or alias != "default") and Bodies.key(environ) is not None
    if is_public and alias != "default":
        with suppress(DatabaseError):  # then the primary is asked the same
            with replicas.reading(alias):
                status, headers, body = finished(_django, asked := dict(environ))
            environ[SOURCE] = asked.get(SOURCE, "view")
            start_response(status, headers)
            return [body]
    try:
        return _django(environ, start_response)
    finally:
        if IS_POOLED and is_public:  # what is not answered by Django is not ended by it
            connections["default"].close()


count = None
if settings.METRICS_PORT:
    from jobsite.ops import metrics
    from vacancies.metrics import collect

    metrics.start(collect)
    count = metrics.count

_requests = Requests(_site, count, settings.LOG_REQUESTS)


def application(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
    """The site, and the probes of load balancers."""
    if environ.get("PATH_INFO") in health.PATHS:
        return health.application(environ, start_response)
    return _requests(environ, start_response)

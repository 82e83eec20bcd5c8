"""The callable that gunicorn serves."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")

_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
    """Django, with the parameters of Content-Type cut off where there is no body.

    Django decodes the query string in the charset that header names, before any middleware runs: an
    unknown charset would be a bare 500, a known one would poison caches.
    """
    if environ["REQUEST_METHOD"] in ("GET", "HEAD", "OPTIONS"):
        environ["CONTENT_TYPE"] = environ.get("CONTENT_TYPE", "").partition(";")[0]
    return _django(environ, start_response)

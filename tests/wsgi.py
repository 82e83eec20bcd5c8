"""Requests to a WSGI application without a server."""

from io import BytesIO
from typing import Any

from jobsite.serving.response_cache import run_wsgi


def ask(
    application: Any, path: str, method: str = "GET", **headers: str
) -> tuple[str, dict[str, str], bytes]:
    """Return status, headers and body; `headers` are named as in the environ."""
    path, _, query = path.partition("?")
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "HTTP_HOST": "testserver",
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(),
        "REMOTE_ADDR": "127.0.0.1",
        **headers,
    }
    status, answered, body = run_wsgi(application, environ)
    return status, dict(answered), body

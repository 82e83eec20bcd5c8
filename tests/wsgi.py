"""Requests to a WSGI application without a server."""

from io import BytesIO
from typing import Any

from jobsite.serving.response_cache import run_wsgi

SERVER = {"SERVER_NAME": "testserver", "SERVER_PORT": "80", "HTTP_HOST": "testserver"}


def ask(
    application: Any, path: str, method: str = "GET", **headers: str
) -> tuple[str, dict, bytes]:
    """Return status, headers and body; `headers` are named as in the environ."""
    path, _, query = path.partition("?")
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REMOTE_ADDR": "127.0.0.1",
    }
    environ |= {"wsgi.url_scheme": "http", "wsgi.input": BytesIO(), **SERVER, **headers}
    status, answered, body = run_wsgi(application, environ)
    return status, dict(answered), body

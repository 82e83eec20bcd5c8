"""Django for public reads of the API: without what has no effect on them."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest, get_script_name
from django.core.signals import request_started
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, get_resolver, set_script_prefix
from django.utils.functional import cached_property
from django.utils.module_loading import import_string

# The middlewares before this one add headers, the same to all public responses of a kind.
FIRST = "jobsite.api.caching.ConditionalMiddleware"

Headers = list[tuple[str, str]]


class ReadRequest(WSGIRequest):
    """A request whose host is checked once."""

    made: HttpResponseBase

    @cached_property
    def _host(self) -> str:
        return super().get_host()

    def get_host(self) -> str:
        return self._host


@lru_cache(maxsize=1024)
def _resolve(urlconf: str, path: str) -> ResolverMatch:
    return get_resolver(urlconf).resolve(path)


class ReadHandler(WSGIHandler):
    """Django without PAGE_MIDDLEWARE and the signal of the end. The middlewares that add headers run
    for the first public response of a kind, and for all that are not public.
    """

    _exception_middleware: list[Callable]

    def load_middleware(self, is_async: bool = False) -> None:
        every = settings.MIDDLEWARE
        names = [name for name in every if name not in settings.PAGE_MIDDLEWARE]
        first = names.index(FIRST)
        settings.MIDDLEWARE = names[first:]
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = every
        add_headers: Any = lambda request: request.made  # noqa: E731
        for name in reversed(names[:first]):
            add_headers = import_string(name)(add_headers)
            if hasattr(add_headers, "process_exception"):
                self._exception_middleware.append(add_headers.process_exception)
        self._add_headers = add_headers
        self._added: dict[tuple, Headers] = {}  # by kind

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        request.resolver_match = found = _resolve(settings.ROOT_URLCONF, request.path_info)
        return found

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        set_script_prefix(get_script_name(environ))
        request_started.send(sender=self.__class__, environ=environ)
        request = ReadRequest(environ)
        response: Any = self.get_response(request)
        kind = self._kind(request, response)
        own = [header for header in response.items() if header[0] != "Vary"]
        if kind in self._added:
            headers = [*own, *self._added[kind]]
        else:
            request.made = response
            response = self._add_headers(request)
            headers = list(response.items())
            if kind and response.status_code == 200:
                names = {name for name, _ in own}
                self._added[kind] = [header for header in headers if header[0] not in names]
            headers += [
                ("Set-Cookie", each.output(header="")) for each in response.cookies.values()
            ]
        start_response(f"{response.status_code} {response.reason_phrase}", headers)
        return [response.content]

    @staticmethod
    def _kind(request: ReadRequest, response: HttpResponseBase) -> tuple:
        """Return what the added headers depend on, or () if they depend on more."""
        headers, asked = response.headers, request.META
        is_public = headers.get("Cache-Control", "").startswith("public") and not response.cookies
        is_open = settings.CORS_ALLOW_ALL_ORIGINS
        is_varied = "HTTP_ACCEPT_ENCODING" in asked or (not is_open and "HTTP_ORIGIN" in asked)
        if response.status_code != 200 or not is_public or is_varied:
            return ()
        return request.is_secure(), headers.get("Vary"), is_open, settings.TIME_ZONE

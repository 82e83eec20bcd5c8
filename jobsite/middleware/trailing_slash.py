"""Addresses of pages with a slash at the end, as people and programs write them."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path

from jobsite.api.problems import is_api


class TrailingSlashMiddleware:
    """Leads from an unknown path with slashes at its end to the page without them, and keeps the query. The
    API is strict. A path is on this host: none that begins with "//" is known."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        path = request.path_info.rstrip("/")
        is_unknown = response.status_code == HTTPStatus.NOT_FOUND and request.resolver_match is None
        if not is_unknown or path in ("", request.path_info) or is_api(request):
            return response
        try:
            resolve(path)
        except Resolver404:
            return response
        query = request.META.get("QUERY_STRING", "")
        url = escape_uri_path(request.path.rstrip("/")) + (f"?{query}" if query else "")
        keeps_body = request.method not in ("GET", "HEAD")
        moved = HttpResponsePermanentRedirect(url, preserve_request=keeps_body)
        moved["Cache-Control"] = "no-store"  # the path may be secret, and the page may move
        return moved

"""Addresses of pages with a slash at the end, as people and programs write them."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import is_valid_path
from django.utils.encoding import escape_uri_path

from jobsite.api.problems import is_api


def trailing_slash(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable:
    """Middleware that leads from an unknown path with slashes at its end to the page without them,
    and keeps the query. The API and files are strict. The path is on this host: none that begins
    with "//" is known.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        response, path = get_response(request), request.path_info.rstrip("/")
        is_unknown = (
            response.status_code == 404 and request.resolver_match is None and not is_api(request)
        )
        is_file = "." in path.rpartition("/")[2]  # for programs
        if not is_unknown or is_file or path == request.path_info or not is_valid_path(path):
            return response
        query, keeps_body = (
            request.META.get("QUERY_STRING", ""),
            request.method not in ("GET", "HEAD"),
        )
        url = escape_uri_path(request.path.rstrip("/")) + (f"?{query}" if query else "")
        moved = HttpResponsePermanentRedirect(url, preserve_request=keeps_body)
        moved["Cache-Control"] = "no-store"  # the path may be secret, and the page may move
        return moved

    return respond

"""Which responses pages of other origins may read."""

from corsheaders.conf import conf
from corsheaders.middleware import ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS
from corsheaders.middleware import CorsMiddleware as BaseCorsMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class CorsMiddleware(BaseCorsMiddleware):
    """CORS for public responses, and for paths that take a bearer token, which no browser sends by
    itself.

    Internal responses have no CORS headers: in a network that may see internal vacancies, a page of
    any site could read them through the visitor's browser. Nor has the management interface, which
    no page uses.
    """

    def is_enabled(self, request: HttpRequest) -> bool:
        return super().is_enabled(request) and not request.path.startswith("/v1/manage/")

    def add_response_headers(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        is_by_token = request.path.startswith(("/v1/user/", "/v1/auth/"))
        if "private" in response.headers.get("Cache-Control", "") and not is_by_token:
            return response
        if not conf.CORS_ALLOW_ALL_ORIGINS:
            return super().add_response_headers(request, response)
        vary = response.headers.get("Vary")
        if request.method == "OPTIONS":
            super().add_response_headers(request, response)
        if request._cors_enabled:  # type: ignore[attr-defined] # set by its base
            # The same for every origin and without one, so the response does not vary by Origin.
            response[ACCESS_CONTROL_ALLOW_ORIGIN] = "*"
            response[ACCESS_CONTROL_EXPOSE_HEADERS] = ", ".join(conf.CORS_EXPOSE_HEADERS)
            del response["Vary"]
            if vary:
                response["Vary"] = vary
        return response

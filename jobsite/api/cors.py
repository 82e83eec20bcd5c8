"""Which pages of other sites may read an answer."""

from typing import Any

from corsheaders.conf import conf
from corsheaders.middleware import ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS
from corsheaders.middleware import CorsMiddleware as BaseCorsMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class CorsMiddleware(BaseCorsMiddleware):
    """Public answers, and what a token opens: no browser sends one by itself. In a network that may see
    internal vacancies every browser may, and a page of any site that it visits would read them along."""

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> Any:
        is_by_token = request.path.startswith(("/v1/user/", "/v1/auth/"))
        if "private" in response.headers.get("Cache-Control", "") and not is_by_token:
            return response
        vary = response.headers.get("Vary")
        super().add_response_headers(request, response)
        if conf.CORS_ALLOW_ALL_ORIGINS and self.is_enabled(request):
            # The same for every origin, and for requests without one: so nothing varies by it.
            response[ACCESS_CONTROL_ALLOW_ORIGIN] = "*"
            response[ACCESS_CONTROL_EXPOSE_HEADERS] = ", ".join(conf.CORS_EXPOSE_HEADERS)
            del response["Vary"]
            if vary:
                response["Vary"] = vary
        return response

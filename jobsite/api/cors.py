"""Which pages of other sites may read an answer."""

from typing import Any

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
        return super().add_response_headers(request, response)

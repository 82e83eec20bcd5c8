"""The Time-Zone header of responses."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from jobsite.api.problems import is_api


class TimeZoneMiddleware:
    """Adds the header Time-Zone to successful responses of the API:
    their times have no UTC offset.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code in (200, 201, 304) and is_api(request):
            response["Time-Zone"] = settings.TIME_ZONE
        return response

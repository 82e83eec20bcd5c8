"""The time zone of the times in answers."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from jobsite.api.problems import is_api


class TimeZoneMiddleware:
    """State the time zone of every successful answer of the interface: its times carry no offset."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code in (200, 201, 304) and is_api(request):
            response["Time-Zone"] = settings.TIME_ZONE
        return response

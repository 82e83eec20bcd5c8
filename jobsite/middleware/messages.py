"""Messages of pages."""

from django.contrib.messages.middleware import MessageMiddleware as BaseMessageMiddleware
from django.http import HttpRequest

from jobsite.api.problems import is_api


class MessageMiddleware(BaseMessageMiddleware):
    """Django's, except for the API, which has no messages: for one vacancy, it takes 3 percent."""

    def process_request(self, request: HttpRequest) -> None:
        if not is_api(request):
            super().process_request(request)

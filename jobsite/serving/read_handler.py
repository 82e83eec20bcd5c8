"""Django for public reads of the API: without the middlewares that have no effect on them."""

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler


class ReadHandler(WSGIHandler):
    """Django without PAGE_MIDDLEWARE, which takes a tenth of the CPU of a vacancy."""

    def load_middleware(self, is_async: bool = False) -> None:
        every = settings.MIDDLEWARE
        settings.MIDDLEWARE = [name for name in every if name not in settings.PAGE_MIDDLEWARE]
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = every

"""Static files."""

from django.http import HttpRequest
from whitenoise.middleware import WhiteNoiseMiddleware as BaseWhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from jobsite.api.caching import compare_weakly


class WhiteNoiseMiddleware(BaseWhiteNoiseMiddleware):
    """WhiteNoise, with If-None-Match according to RFC 9110: lists, `*` and weak tags."""

    @staticmethod
    def serve(static_file: object, request: HttpRequest) -> object:
        if isinstance(static_file, StaticFile):  # not a redirect
            compare_weakly(request.META, static_file.etag)
        return BaseWhiteNoiseMiddleware.serve(static_file, request)

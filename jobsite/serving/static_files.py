"""Static files."""

from django.http import HttpRequest
from whitenoise.middleware import WhiteNoiseMiddleware as BaseWhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

from jobsite.api.caching import compare_weakly


class StaticFilesStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's. Before `collectstatic`, names have no hash: an error page lacks its style, but
    does not become a 500.
    """

    def stored_name(self, name: str) -> str:
        return super().stored_name(name) if self.hashed_files else name


class WhiteNoiseMiddleware(BaseWhiteNoiseMiddleware):
    """WhiteNoise, with If-None-Match according to RFC 9110: lists, `*` and weak tags."""

    @staticmethod
    def serve(static_file: object, request: HttpRequest) -> object:
        if isinstance(static_file, StaticFile):  # not a redirect
            compare_weakly(request.META, static_file.etag)
        return BaseWhiteNoiseMiddleware.serve(static_file, request)

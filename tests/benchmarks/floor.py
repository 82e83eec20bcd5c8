"""The floor: Django without middleware, which serves the bytes of a file from memory."""

import os
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

FOLDER = Path(os.environ["FLOOR_FOLDER"])
settings.configure(
    ROOT_URLCONF=__name__, MIDDLEWARE=[], ALLOWED_HOSTS=["*"], SECRET_KEY="benchmark"
)


@lru_cache
def body(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def constant(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponse(body(name), content_type="application/json")


urlpatterns = [path("<slug:name>", constant)]
application = get_wsgi_application()

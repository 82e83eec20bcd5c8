"""Emails of the demo: a file collects them, so that they are not printed between the lines of the
server.
"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.mail.backends import console

NAME = "demo-emails.txt"


def file() -> Path:
    return Path(settings.BASE_DIR, NAME)


def collect() -> None:
    """Let this process write its emails to the file, unless EMAIL_URL sends them."""
    if settings.IS_MAIL_SENT:
        return
    backend = f"{__name__}.EmailBackend"
    if hasattr(settings, "MAILERS"):  # Django 6.1
        settings.MAILERS = {"default": {"BACKEND": backend}}
    else:
        settings.EMAIL_BACKEND = backend


class EmailBackend(console.EmailBackend):
    def send_messages(self, *args: Any) -> Any:
        with file().open("a") as self.stream:
            return super().send_messages(*args)

"""How long somebody stays signed in: a working day, counted from the sign-in."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone


@receiver(user_logged_in)
def end_in_time(sender: Any, request: HttpRequest, **kwargs: Any) -> None:
    """Django would count from the last time that something in the session changed."""
    if request.session.modified:  # a new one; a token is issued without
        request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))

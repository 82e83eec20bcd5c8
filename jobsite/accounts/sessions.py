"""Session lifetime: a working day from the sign-in."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone


@receiver(user_logged_in)
def end_in_time(sender: object, request: HttpRequest, **kwargs: object) -> None:
    """Set the expiry at the sign-in. Django counts from the last modification of the session."""
    if request.session.modified:  # a new session; tokens have none
        request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))

"""Which passwords are refused: when they are set, and when somebody signs in."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _

DIFFERENT_MIN = 5  # characters


class VarietyValidator:
    """Refuses a password of a few characters that repeat, such as aaaaaaaaaaaa or 121212121212a."""

    def validate(self, password: str, user: User | None = None) -> None:
        if len(set(password)) < DIFFERENT_MIN:
            raise ValidationError(self.get_help_text(), code="password_variety")

    def get_help_text(self) -> str:
        text = _("Your password must contain at least %(count)d different characters.")
        return text % {"count": DIFFERENT_MIN}


class PublicPasswordBackend:
    """Refuses the passwords of the demo, where the user name is the password, on a site that is not
    for development. It counts as a wrong password.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None
    ) -> None:
        if password and password == username and not settings.DEBUG:
            raise PermissionDenied

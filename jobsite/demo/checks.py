"""System check of the demo accounts (manage.py check --deploy)."""

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import check_password
from django.core.checks import CheckMessage, Warning

from jobsite.demo.accounts import ACCOUNTS
from jobsite.ops.checks import register_content_check


@register_content_check
def demo_passwords_are_changed() -> list[CheckMessage]:
    """Report active accounts whose password is that of the demo: their user name."""
    users = get_user_model()._default_manager.filter(username__in=ACCOUNTS, is_active=True)
    return [
        Warning(
            f"{user.get_username()} still has the password of the demo.",
            hint=f"manage.py changepassword {user.get_username()}",
            id="jobsite.W015",
        )
        for user in users.order_by("pk")
        if check_password(user.get_username(), user.password)
    ]

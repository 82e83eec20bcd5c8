"""System check of the roles (manage.py check --deploy)."""

from django.core.checks import CheckMessage, Warning

from jobsite.accounts import roles
from jobsite.ops.checks import register_content_check


@register_content_check
def roles_have_their_permissions() -> list[CheckMessage]:
    """Report roles without permissions of this release: their users cannot use what is new."""
    names = ", ".join(f"{role} ({len(names)})" for role, names in roles.lacking().items())
    text = f"Roles lack permissions of this release: {names}."
    hint = "Run manage.py create_roles; with --dry-run, it prints them."
    return [Warning(text, hint=hint, id="jobsite.W045")] if names else []

"""The choice of a brand (docs/decisions.md #56)."""

from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from vacancies.access.brands import brands_of
from vacancies.querysets import EVERY_BRAND


def brand_choices(field: Any, user: User) -> None:
    """Let `field` offer the brands of `user`. All brands are for users who work for every brand."""
    field.queryset = brands_of(user)
    if not user.has_perm(EVERY_BRAND):
        field.required, field.empty_label = True, None
    else:
        field.empty_label = _("All brands")

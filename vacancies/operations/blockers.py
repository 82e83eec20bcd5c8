"""What keeps a vacancy from being published, or from being saved while it is published."""

from collections.abc import Collection
from datetime import datetime

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from vacancies.choices import State, VacancyStatus
from vacancies.models import Vacancy

_REFERENCE = ("reference", "brand")
PAY = ("pay_min", "pay_max", "pay_currency", "pay_period")
# Constraints that a merge or a restored version can violate: the field of the reason, and what they
# check.
_CONSTRAINTS = {
    "reference_once_per_brand": ("reference", _REFERENCE),
    "reference_once_without_brand": ("reference", _REFERENCE),
    "pay_range": ("pay_max", PAY),
    "pay_complete": ("pay_min", PAY),
}


def closing_date_passed() -> str:
    return _("The closing date has passed. Choose a later date or leave it empty.")


def closes_before_start() -> str:
    return _("The closing date is before the publication date.")


def publish_blockers(*, vacancy: Vacancy, at: datetime) -> dict[str, str]:
    """Return the reasons why `vacancy` cannot be published at `at`, by field; empty if it can."""
    found = vacancy.missing_to_publish()
    if not vacancy.description:
        found["description"] = _("A vacancy needs a description to be published.")
    if vacancy.publish_until and vacancy.publish_until <= at:
        found["publish_until"] = closing_date_passed()
    elif (
        vacancy.publish_until
        and vacancy.publish_from
        and vacancy.publish_until <= vacancy.publish_from
    ):
        found["publish_until"] = closes_before_start()
    return found


def save_blockers(*, after: Vacancy, changed: Collection[str], at: datetime) -> dict[str, str]:
    """Return the reasons why `after`, of which the fields `changed` differ from what is stored,
    cannot be saved, by field. What was published before stays editable: an expired vacancy keeps
    its closing date, an imported one may have no description.
    """
    found: dict[str, str] = {}
    if after.status == VacancyStatus.PUBLISHED:
        found = publish_blockers(vacancy=after, at=at)
        if "status" not in changed:
            for name in {"publish_until", "description"}.difference(changed):
                found.pop(name, None)
            if after.state_at(at) == State.EXPIRED:
                found.pop("description", None)
    begin, end = after.publish_from, after.publish_until
    if begin and end and end <= begin:
        found.setdefault("publish_until", closes_before_start())
    return found | _violations(after, set(changed))


def _violations(vacancy: Vacancy, changed: set[str]) -> dict[str, str]:
    found = {}
    for constraint in Vacancy._meta.constraints:
        field, checked = _CONSTRAINTS.get(constraint.name, ("", ()))
        if changed.isdisjoint(checked):
            continue
        try:
            constraint.validate(Vacancy, vacancy)
        except ValidationError as error:
            found[field] = " ".join(error.messages)
    return found

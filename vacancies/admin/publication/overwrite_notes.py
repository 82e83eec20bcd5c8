"""What the publication actions overwrite or end, in one sentence each, for their confirmation
pages.
"""

from django.utils import timezone
from django.utils.translation import gettext as _

from jobsite.text.formats import format_date, format_datetime
from vacancies.choices import State
from vacancies.dates import closing_date_of
from vacancies.models import Vacancy
from vacancies.operations.publication import extended_day


def no_notes(vacancy: Vacancy) -> list[str]:
    return []


def notes_for_publish(vacancy: Vacancy) -> list[str]:
    if vacancy.state != State.SCHEDULED:
        return []
    return [_("The scheduled date %(date)s is replaced by the current time.") % _start(vacancy)]


def notes_for_schedule(vacancy: Vacancy) -> list[str]:
    if not vacancy.publish_from:
        return []
    if vacancy.state == State.SCHEDULED:
        return [_("The scheduled date %(date)s is replaced.") % _start(vacancy)]
    return [_("The publication date %(date)s is replaced.") % _start(vacancy)]


def notes_for_unpublish(vacancy: Vacancy) -> list[str]:
    match vacancy.state:
        case State.PUBLISHED:
            return [_("It is published and disappears from all sites.")]
        case State.SCHEDULED:
            return [_("It does not go live on %(date)s.") % _start(vacancy)]
    return []


def notes_for_extend(vacancy: Vacancy) -> list[str]:
    if not vacancy.publish_until:
        return []
    now = timezone.now()
    two, four = (
        format_date(extended_day(vacancy.publish_until, weeks, at=now)) for weeks in (2, 4)
    )
    text = _("The closing date %(date)s becomes %(two)s (2 weeks) or %(four)s (4 weeks).")
    return [text % {"date": closing_date_of(vacancy), "two": two, "four": four}]


def notes_for_feature(vacancy: Vacancy) -> list[str]:
    if not vacancy.publish_until:
        return []
    return [_("It closes on %(date)s.") % {"date": closing_date_of(vacancy)}]


def _start(vacancy: Vacancy) -> dict[str, object]:
    return (
        {"date": format_datetime(vacancy.publish_from)} if vacancy.publish_from else {"date": "-"}
    )

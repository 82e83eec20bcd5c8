"""The rules on publication dates that the page checks while the user types
(static/vacancies/date_rules.js). The server checks them too: `publish_blockers`, `VacancyForm`, and
the content warnings.
"""

from django.utils import timezone
from django.utils.formats import get_format
from django.utils.translation import gettext as _

from jobsite.admin.datetime_fields import invalid_date
from vacancies.operations.blockers import closes_before_start, closing_date_passed


def date_rules() -> dict[str, object]:
    """Return what the script needs:
    the current day of the site, how dates are typed, and the texts.
    """
    return {
        "today": timezone.localdate().isoformat(),
        "formats": [form for form in get_format("DATE_INPUT_FORMATS") if "%b" not in form.lower()],
        "invalid": invalid_date(),
        "passed": closing_date_passed(),
        "before_start": closes_before_start(),
        "permanent": _(
            "The vacancy is continuously open, but has a closing date. Remove one of the two."
        ),
    }

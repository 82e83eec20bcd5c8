"""The actions that change the publication of vacancies, with their texts and forms."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy
from unfold.widgets import UnfoldAdminSingleDateWidget, UnfoldAdminTextareaWidget

from jobsite.admin.datetime_fields import ZonedDateTimeField, with_named_parts
from vacancies import approving, operations
from vacancies.models import State
from vacancies.operations import BulkResult
from vacancies.querysets import VacancyQuerySet
from vacancies.validators import validate_datetime

COPIES = 100  # at a time


class ScheduleForm(forms.Form):
    publish_from = ZonedDateTimeField(
        label=gettext_lazy("Publish on"),
        validators=[validate_datetime],
        help_text=gettext_lazy(
            "The vacancy goes live automatically at this time, in the time zone of the site."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with_named_parts(self.fields["publish_from"])


class SubmitForm(ScheduleForm):
    note = forms.CharField(
        label=gettext_lazy("Note for the approver"),
        required=False,
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["publish_from"]
        field.required = False
        field.help_text = _("Leave empty to publish as soon as it is approved.")


class ClosingDateForm(forms.Form):
    day = forms.DateField(
        label=gettext_lazy("Closing date"),
        widget=UnfoldAdminSingleDateWidget,
        validators=[MaxValueValidator(date(2200, 12, 30))],
        help_text=gettext_lazy("Public until the end of this day. A later closing date does not change."),
    )


def duplicate(*, vacancies: VacancyQuerySet, at: Any, author: Any) -> BulkResult:
    """Duplicate at most `COPIES` vacancies."""
    rows = list(vacancies.without_texts().order_by("pk"))
    result = BulkResult()
    for vacancy in rows[:COPIES]:
        result.done.append(operations.duplicate(vacancy=vacancy, at=at, author=author).pk)
    for vacancy in rows[COPIES:]:
        result.refused[vacancy] = {
            "": _("At most %(count)d vacancies can be duplicated at a time.") % {"count": COPIES}
        }
    return result


@dataclass(frozen=True)
class PublicationAction:
    """An action on the publication of vacancies: its texts, and the states that it applies to."""

    name: str
    label: Any
    text: Any  # one sentence: what the action does
    done: Any  # the success message, with the number of vacancies
    icon: str
    run: Callable[..., BulkResult]
    states: frozenset[State]
    form: type[forms.Form] = forms.Form
    permission: str = "change"
    shows_changes: bool = False
    with_approval: bool | None = None  # only for brands that publish with approval, or only for others
    is_main: bool = False


NOT_PUBLIC = frozenset({State.DRAFT, State.UNPUBLISHED, State.ARCHIVED, State.EXPIRED})
ACTIONS = (
    PublicationAction(
        "publish",
        gettext_lazy("Publish now"),
        gettext_lazy("The last saved version goes live immediately."),
        ngettext_lazy("%(count)d vacancy was published.", "%(count)d vacancies were published.", "count"),
        "publish",
        operations.publish,
        NOT_PUBLIC | {State.SCHEDULED},
        shows_changes=True,
        is_main=True,
        with_approval=False,
    ),
    PublicationAction(
        "schedule",
        gettext_lazy("Schedule…"),
        gettext_lazy("The last saved version goes live automatically at the time that you choose."),
        ngettext_lazy("%(count)d vacancy was scheduled.", "%(count)d vacancies were scheduled.", "count"),
        "schedule",
        operations.schedule,
        NOT_PUBLIC | {State.SCHEDULED},
        ScheduleForm,
        shows_changes=True,
        with_approval=False,
    ),
    PublicationAction(
        "submit",
        gettext_lazy("Submit for approval…"),
        gettext_lazy("A colleague reads the last saved version, and publishes it or sends it back."),
        ngettext_lazy(
            "%(count)d vacancy was submitted for approval.",
            "%(count)d vacancies were submitted for approval.",
            "count",
        ),
        "approval_delegation",
        approving.submit,
        NOT_PUBLIC,
        SubmitForm,
        shows_changes=True,
        is_main=True,
        with_approval=True,
    ),
    PublicationAction(
        "unpublish",
        gettext_lazy("Unpublish"),
        gettext_lazy("The vacancy is removed from all sites immediately. You can publish it again later."),
        ngettext_lazy("%(count)d vacancy was unpublished.", "%(count)d vacancies were unpublished.", "count"),
        "visibility_off",
        operations.unpublish,
        frozenset({State.PUBLISHED, State.SCHEDULED, State.EXPIRED}),
    ),
    PublicationAction(
        "extend",
        gettext_lazy("Extend…"),
        gettext_lazy("The vacancy stays public until the end of the day that you choose."),
        ngettext_lazy("%(count)d vacancy was extended.", "%(count)d vacancies were extended.", "count"),
        "event_repeat",
        operations.extend,
        frozenset({State.PUBLISHED, State.SCHEDULED, State.EXPIRED}),
        ClosingDateForm,
    ),
    PublicationAction(
        "archive",
        gettext_lazy("Archive"),
        gettext_lazy("The vacancy is hidden from the list. Use the filter “Archived” to find it."),
        ngettext_lazy("%(count)d vacancy was archived.", "%(count)d vacancies were archived.", "count"),
        "archive",
        operations.archive,
        NOT_PUBLIC - {State.ARCHIVED},
    ),
    PublicationAction(
        "duplicate",
        gettext_lazy("Duplicate"),
        gettext_lazy("Creates a draft with the same content and without dates."),
        ngettext_lazy("%(count)d vacancy was duplicated.", "%(count)d vacancies were duplicated.", "count"),
        "content_copy",
        duplicate,
        frozenset(State),
        permission="add",
    ),
)
BY_NAME = {action.name: action for action in ACTIONS}

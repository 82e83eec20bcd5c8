"""The actions that change the publication of vacancies, with their texts and forms."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from jobsite.admin.datetime_fields import ZonedDateTimeField
from jobsite.types import StrOrPromise
from vacancies.admin.publication import overwrite_notes
from vacancies.admin.publication.extension import ExtendForm
from vacancies.choices import State
from vacancies.models import Vacancy, Version
from vacancies.operations import publication, undo
from vacancies.operations.approval_decisions import submit_for_approval
from vacancies.operations.publication import BulkResult
from vacancies.querysets import VacancyQuerySet
from vacancies.validators import validate_datetime

COPIES = 100  # at a time


class ScheduleForm(forms.Form):
    publish_from = ZonedDateTimeField(
        label=gettext_lazy("Publish on"),
        validators=[validate_datetime],
        help_text=gettext_lazy("The vacancy goes live automatically at this time."),
    )


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


def duplicate(
    *, vacancies: VacancyQuerySet, at: datetime, author: User | None, is_preview: bool = False
) -> BulkResult:
    """Duplicate at most `COPIES` vacancies."""
    rows = list(vacancies.without_texts().order_by("pk"))
    result = BulkResult()
    for vacancy in rows[COPIES:]:
        result.refused[vacancy] = {
            "": _("At most %(count)d vacancies can be duplicated at a time.") % {"count": COPIES}
        }
    if is_preview:
        result.done = [vacancy.pk for vacancy in rows[:COPIES]]
        return result
    for vacancy in rows[:COPIES]:
        result.done.append(publication.duplicate(vacancy=vacancy, at=at, author=author).pk)
    versions = Version.objects.filter(vacancy__in=result.done[:1])
    result.first_version = versions.values_list("pk", flat=True).first()
    return result


@dataclass(frozen=True)
class PublicationAction:
    """An action on the publication of vacancies: its texts, and the states that it applies to.

    `run` has a parameter `is_preview`; `preview_values` are those of its form with which it refuses
    least. `overwritten` returns what it overwrites of a vacancy. `undone_by` is the permission to
    undo it.
    """

    name: str
    label: Any
    text: StrOrPromise  # one sentence: what the action does
    done: Any  # the success message, with the number of vacancies
    icon: str
    run: Callable[..., BulkResult]
    states: frozenset[State]
    form: type[forms.Form] = forms.Form
    permission: str = "change"
    shows_changes: bool = False
    # Only for brands that publish with approval, or only for others.
    with_approval: bool | None = None
    is_main: bool = False
    is_button: bool = True  # on the page of a vacancy
    is_danger: bool = False
    overwritten: Callable[[Vacancy], list[str]] = overwrite_notes.no_notes
    preview_values: Callable[[datetime], dict[str, object]] = lambda at: {}
    undone_by: str = "change"

    @property
    def verb(self) -> str:
        """The label of the button that runs the action."""
        return str(self.label).removesuffix("…")


NOT_PUBLIC = frozenset({State.DRAFT, State.UNPUBLISHED, State.ARCHIVED, State.EXPIRED})
ACTIONS = (
    PublicationAction(
        "publish",
        gettext_lazy("Publish now"),
        gettext_lazy("The last saved version goes live immediately."),
        ngettext_lazy(
            "%(count)d vacancy was published.", "%(count)d vacancies were published.", "count"
        ),
        "publish",
        publication.publish,
        NOT_PUBLIC | {State.SCHEDULED},
        shows_changes=True,
        is_main=True,
        overwritten=overwrite_notes.notes_for_publish,
        with_approval=False,
    ),
    PublicationAction(
        "schedule",
        gettext_lazy("Schedule…"),
        gettext_lazy("The last saved version goes live automatically at the time that you choose."),
        ngettext_lazy(
            "%(count)d vacancy was scheduled.", "%(count)d vacancies were scheduled.", "count"
        ),
        "schedule",
        publication.schedule,
        NOT_PUBLIC | {State.SCHEDULED},
        ScheduleForm,
        shows_changes=True,
        overwritten=overwrite_notes.notes_for_schedule,
        preview_values=lambda at: {"publish_from": at + timedelta(seconds=1)},
        with_approval=False,
    ),
    PublicationAction(
        "submit",
        gettext_lazy("Submit for approval…"),
        gettext_lazy(
            "A colleague reads the last saved version, and publishes it or sends it back."
        ),
        ngettext_lazy(
            "%(count)d vacancy was submitted for approval.",
            "%(count)d vacancies were submitted for approval.",
            "count",
        ),
        "approval_delegation",
        submit_for_approval,
        NOT_PUBLIC,
        SubmitForm,
        shows_changes=True,
        is_main=True,
        with_approval=True,
    ),
    PublicationAction(
        "unpublish",
        gettext_lazy("Unpublish"),
        gettext_lazy(
            "The vacancy is removed from all sites immediately. You can publish it again later."
        ),
        ngettext_lazy(
            "%(count)d vacancy was unpublished.", "%(count)d vacancies were unpublished.", "count"
        ),
        "visibility_off",
        publication.unpublish,
        frozenset({State.PUBLISHED, State.SCHEDULED, State.EXPIRED}),
        overwritten=overwrite_notes.notes_for_unpublish,
    ),
    PublicationAction(
        "extend",
        gettext_lazy("Extend…"),
        gettext_lazy(
            "The vacancy gets a later closing date, and stays public until the end of that day."
        ),
        ngettext_lazy(
            "%(count)d vacancy was extended.", "%(count)d vacancies were extended.", "count"
        ),
        "event_repeat",
        publication.extend,
        frozenset({State.PUBLISHED, State.SCHEDULED, State.EXPIRED}),
        ExtendForm,
        overwritten=overwrite_notes.notes_for_extend,
        preview_values=lambda at: {"weeks": 4},
    ),
    PublicationAction(
        "feature",
        gettext_lazy("Feature"),
        gettext_lazy("The vacancy also appears in the lists of featured vacancies."),
        ngettext_lazy(
            "%(count)d vacancy is now featured.", "%(count)d vacancies are now featured.", "count"
        ),
        "star",
        publication.feature,
        frozenset(State),
        is_button=False,
        overwritten=overwrite_notes.notes_for_feature,
    ),
    PublicationAction(
        "unfeature",
        gettext_lazy("Stop featuring"),
        gettext_lazy("The vacancy no longer appears in the lists of featured vacancies."),
        ngettext_lazy(
            "%(count)d vacancy is no longer featured.",
            "%(count)d vacancies are no longer featured.",
            "count",
        ),
        "star_border",
        partial(publication.feature, is_hot=False),
        frozenset(State),
        is_button=False,
    ),
    PublicationAction(
        "archive",
        gettext_lazy("Archive"),
        gettext_lazy("The vacancy is hidden from the list. Use the filter “Archived” to find it."),
        ngettext_lazy(
            "%(count)d vacancy was archived.", "%(count)d vacancies were archived.", "count"
        ),
        "archive",
        publication.archive,
        NOT_PUBLIC - {State.ARCHIVED},
    ),
    PublicationAction(
        "duplicate",
        gettext_lazy("Duplicate"),
        gettext_lazy("Creates a draft with the same content and without dates."),
        ngettext_lazy(
            "%(count)d vacancy was duplicated.", "%(count)d vacancies were duplicated.", "count"
        ),
        "content_copy",
        duplicate,
        frozenset(State),
        permission="add",
        undone_by="delete",
    ),
    PublicationAction(
        "delete",
        gettext_lazy("Delete…"),
        gettext_lazy(
            "A published vacancy disappears from all sites immediately. A deleted vacancy can be "
            "restored, with its attachments and its history: open “Deleted vacancies” below the "
            "list."
        ),
        ngettext_lazy(
            "%(count)d vacancy was deleted.", "%(count)d vacancies were deleted.", "count"
        ),
        "delete",
        undo.delete,
        frozenset(State),
        permission="delete",
        is_danger=True,
        overwritten=overwrite_notes.notes_for_unpublish,
        undone_by="add",
    ),
)
BY_NAME = {action.name: action for action in ACTIONS}

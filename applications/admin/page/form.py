"""The form of one application: its stage, its rating, and its interviews and tasks."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Model
from django.forms.renderers import BaseRenderer
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import StackedInline
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminSelectWidget

from applications.admin.moves.filling import filled_by
from applications.admin.moves.form import MoveForm
from applications.models import Application, Stage, StageChange, Task
from jobsite.admin.base import as_id
from jobsite.admin.datetime_fields import ZonedDateTimesAdmin
from jobsite.types import UserRequest

RATINGS = range(1, 6)


class RatingWidget(UnfoldAdminRadioSelectWidget):
    """Radio buttons in one line, as a group with a name."""

    def render(
        self,
        name: str,
        value: object,
        attrs: dict[str, object] | None = None,
        renderer: BaseRenderer | None = None,
    ) -> str:
        radios = super().render(name, value, attrs, renderer)
        group = '<div class="rating" role="radiogroup" aria-label="{}">{}</div>'
        return format_html(group, gettext("Rating"), radios)


class ApplicationForm(forms.ModelForm):
    """An application and its stage. `seen` is the latest stage change when the page was rendered.
    The stage changes only if the user chose another one, and nobody else changed it in the
    meantime. `confirmed` is the id of the stage whose confirmation the user saw, if a move there
    needs one; `move_form` asks for more.
    """

    user: User  # set by the page
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    confirmed = forms.CharField(required=False, widget=forms.HiddenInput)
    stage = forms.ModelChoiceField(
        Stage.objects.all(),
        label=_("Stage"),
        widget=UnfoldAdminSelectWidget,
        help_text=_("Stage changes are logged with your name and the time."),
    )
    rating = forms.TypedChoiceField(
        label=_("Rating"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", _("No rating")), *((str(n), str(n)) for n in RATINGS)],
        widget=RatingWidget(radio_style=1),
        help_text=_("5 is best. Applicants do not see it."),
    )

    class Meta:
        model = Application
        fields = ("rating",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_unconfirmed = False
        self.move_form: MoveForm | None = None
        for name in self.fields.keys() & set(self.Meta.fields):
            # Keeps what somebody else changed in the meantime.
            self.fields[name].show_hidden_initial = True
        self.latest = (
            self.instance.changes.select_related("stage").last() if self.instance.pk else None
        )
        if self.latest and "stage" in self.fields:
            self.initial.update(stage=self.latest.stage_id, seen=str(self.latest.pk))

    def clean(self) -> dict[str, object]:
        data = super().clean() or self.cleaned_data
        stage, seen = data.get("stage"), data.get("seen", "")
        if stage is None:
            return data
        if self.latest and seen != str(self.latest.pk):
            was = self.instance.changes.filter(pk__in=[as_id(seen)]).first()
            if was and was.stage_id == stage.pk:
                # Not changed here: keep the other user's choice.
                data["stage"] = stage = self.latest.stage
            elif stage.pk != self.latest.stage_id:
                self._refuse_conflict(self.latest)
                return data
        is_moved = self.latest is None or stage.pk != self.latest.stage_id
        if is_moved and stage.needs_confirmation:
            self._ask(stage, is_confirmed=data.get("confirmed") == str(stage.pk))
        return data

    def _ask(self, stage: Stage, *, is_confirmed: bool) -> None:
        """Add the form of a move to `stage`, and an error unless it is valid."""
        moved = [self.instance.pk]
        fills = filled_by(moved, stage, user=self.user)
        self.move_form = MoveForm(
            self.data if is_confirmed else None, stage=stage, applications=moved, fills=fills
        )
        if not self.move_form.is_valid():
            self.is_unconfirmed = True
            self.add_error("stage", gettext("Confirm this decision."))

    def _refuse_conflict(self, latest: StageChange) -> None:
        text = gettext(
            "Moved to %(stage)s since you opened this page. Save again if you still want it."
        )
        self.add_error("stage", text % {"stage": latest.stage})
        self.data = {**dict(self.data.items()), self.add_prefix("seen"): str(latest.pk)}


class StepInline(ZonedDateTimesAdmin, StackedInline):
    """The tasks of an application. The permissions of the application apply."""

    model = Task
    verbose_name = _("task")
    verbose_name_plural = _("tasks")
    extra = 0
    fields = ("name", "planned_at", "result", "is_visible")
    tab = False

    def may(self, request: UserRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("applications.change_application")

    has_add_permission = has_change_permission = has_delete_permission = may

    def has_view_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("applications.view_application")

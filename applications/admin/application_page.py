"""The admin page of one application: its stage, and what the applicant sees."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from applications.admin.brand_access import BrandScopedAdmin, record
from applications.models import Access, Application, HistoryEntry, Stage
from applications.operations import move
from jobsite.admin.base import RowsInline, as_id, person
from jobsite.formats import format_datetime
from jobsite.languages import LANGUAGES


class ApplicationForm(forms.ModelForm):
    """An application and its stage. `seen` is the latest stage change when the page was rendered. The stage
    changes only if the user chose another one, and nobody else changed it in the meantime."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    stage = forms.ModelChoiceField(
        Stage.objects.all(),
        label=_("Stage"),
        widget=UnfoldAdminSelectWidget,
        help_text=_("Stage changes are logged with your name and the time."),
    )

    class Meta:
        model = Application
        fields = ("is_spontaneous",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.latest = self.instance.changes.select_related("stage").last() if self.instance.pk else None
        if self.latest and "stage" in self.fields:
            self.initial.update(stage=self.latest.stage_id, seen=str(self.latest.pk))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        stage, seen = data.get("stage"), data.get("seen", "")
        if stage is None or self.latest is None or seen == str(self.latest.pk):
            return data
        was = self.instance.changes.filter(pk__in=[as_id(seen)]).first()
        if was and was.stage_id == stage.pk:
            data["stage"] = self.latest.stage  # not changed here: keep the other user's choice
        elif stage.pk != self.latest.stage_id:
            text = gettext("Moved to %(stage)s since you opened this page. Save again if you still want it.")
            self.add_error("stage", text % {"stage": self.latest.stage})
            data_again: Any = self.data
            self.data = {**data_again.dict(), self.add_prefix("seen"): str(self.latest.pk)}
        return data


class StepForm(forms.ModelForm):
    """A row whose inputs have labels: screen readers do not read the column heading as the label."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("name", "planned_at", "result", "is_visible"):
            if field := self.fields.get(name):
                for widget in getattr(field.widget, "widgets", [field.widget]):
                    widget.attrs["aria-label"] = str(field.label)


class StepInline(RowsInline):
    """The interviews and tasks of an application. The permissions of the application apply."""

    model = HistoryEntry
    form = StepForm
    fields = ("name", "planned_at", "result", "is_visible")
    tab = False
    verbose_name_plural = _("interviews and tasks")

    def may(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("applications.change_application")

    has_add_permission = has_change_permission = has_delete_permission = may

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("applications.view_application")


class ApplicationPage(BrandScopedAdmin):
    """The page of an application. `ApplicationAdmin` adds the list."""

    form = ApplicationForm
    fieldsets = (
        (_("Application"), {"fields": ("applicant", "email", "to", "applied", "is_spontaneous", "stage")}),
        (_("What the applicant sees"), {"fields": ("shown_status", "shown_steps")}),
        (_("Stage history"), {"fields": ("stages",)}),
    )
    readonly_fields = (
        "applicant", "email", "to", "applied", "current_stage", "shown_status", "shown_steps", "stages"
    )  # fmt: skip
    inlines = (StepInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        rows: Any = super().get_queryset(request)
        return rows.with_stage()

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        application = super().get_object(request, object_id, from_field)
        if application and request.method == "POST":
            # Locked, then read again: of two concurrent saves, the second one gets the conflict error.
            Application.objects.select_for_update().filter(pk=application.pk).first()
            application = super().get_object(request, object_id, from_field)
        return application

    def get_fieldsets(self, request: HttpRequest, obj: Application | None = None) -> Any:
        """A read-only page shows the stage as text."""
        if self.has_change_permission(request, obj):
            return self.fieldsets
        (name, spec), *others = self.fieldsets
        fields = tuple("current_stage" if field == "stage" else field for field in spec["fields"])
        return [(name, {"fields": fields}), *others]

    # --- viewing: each view is logged ---

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        response = super().change_view(request, object_id, *args, **kwargs)
        if response.status_code == 200:
            record(request.user, Access.VIEW, int(object_id))
        response["Cache-Control"] = "private, no-store"
        return response

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        response = super().history_view(request, object_id, extra_context)
        record(request.user, Access.VIEW, int(object_id))
        return response

    @display(description=_("Applicant"))
    def applicant(self, application: Application) -> str:
        return application.shown_name

    @display(description=_("E-mail"))
    def email(self, application: Application) -> str:
        return application.address or "-"

    @display(description=_("Vacancy"))
    def to(self, application: Application) -> str:
        url = reverse("admin:vacancies_vacancy_change", args=[application.vacancy_id])
        return format_html('<a class="text-link" href="{}">{}</a>', url, application.vacancy.title)

    @display(description=_("Applied"), ordering="created_at")
    def applied(self, application: Application) -> str:
        return format_datetime(application.created_at)

    @display(description=_("Stage"), ordering="stage_name", label=True)
    def current_stage(self, application: Any) -> str:
        return application.stage_name or "-"

    @display(description=_("Status"))
    def shown_status(self, application: Application) -> str:
        """Return the candidate-facing status in each language, and its scheduled changes."""
        now = timezone.now()
        seen = Application.objects.with_shown().get(pk=application.pk)
        status = seen.shown_status(at=now)
        if status is None:
            return gettext("Nothing yet.")
        labels = ((gettext(name), status.label(code)) for code, name in LANGUAGES.items())
        words = format_html_join("", "<li>{}: <strong>{}</strong></li>", labels)
        coming: list[tuple[str]] = []
        before: Any = status
        for visible_from in sorted(
            change.visible_at for change in seen.ordered_changes if change.visible_at > now
        ):
            after = seen.shown_status(at=visible_from)
            if after != before:
                text = gettext("From %(visible_from)s: %(status)s.")
                coming.append((text % {"visible_from": format_datetime(visible_from), "status": after},))
            before = after
        later = format_html_join("", "<p>{}</p>", coming)
        return format_html('<ul class="shown">{}</ul>{}', words, later)

    @display(description=_("Interviews and tasks"))
    def shown_steps(self, application: Application) -> str:
        rows = application.history.visible().in_order()
        lines = (
            (format_datetime(step.planned_at), step.name, step.result or gettext("no result yet"))
            for step in rows
        )
        return format_html_join("", "<p>{}: {} ({})</p>", lines) or gettext("None.")

    @display(description=_("Stages"))
    def stages(self, application: Application) -> str:
        rows = application.changes.select_related("stage", "author")
        by_somebody = gettext("%(changed_at)s: %(stage)s, by %(person)s")
        by_nobody = gettext("%(changed_at)s: %(stage)s, by the system")
        lines = (
            (by_somebody if change.author else by_nobody)
            % {
                "changed_at": format_datetime(change.at),
                "stage": change.stage,
                "person": person(change.author) if change.author else "",
            }
            for change in rows
        )
        return format_html_join("", "<p>{}</p>", ((line,) for line in lines)) or gettext("None.")

    # --- changing ---

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        now = timezone.now()
        obj.updated_at = now
        obj.save(update_fields=["is_spontaneous", "updated_at"])
        if form.cleaned_data["stage"].pk != obj.stage_id:
            rows = Application.objects.filter(pk=obj.pk)
            move(applications=rows, stage=form.cleaned_data["stage"], author=request.user, at=now)
        record(request.user, Access.CHANGE, obj.pk)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        now = timezone.now()
        for step in formset.save(commit=False):
            step.updated_at = now
            step.save()
        for step in formset.deleted_objects:
            step.delete()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Applicants are erased by a command only, because it covers all data."""
        return False

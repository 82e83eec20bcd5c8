"""The admin of application forms: the changelist, adding and deleting."""

from collections.abc import Sequence

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelChoiceField, ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from forms_structure import operations
from forms_structure.admin.base import address
from forms_structure.admin.builder import BuilderPages
from forms_structure.admin.history import FormHistoryPages
from forms_structure.admin.translate import FormTranslationPages
from forms_structure.models import Form
from jobsite.admin.base import JobsiteAdmin
from jobsite.admin.confirmation import ActionRow, ActionSection, ask, is_confirmed
from jobsite.types import JsonObject, UserRequest


class FormBaseAdmin(JobsiteAdmin):
    """The admin of forms. A subclass overrides the methods about vacancies."""

    page_classes = (BuilderPages, FormHistoryPages, FormTranslationPages)
    fields = ("name", "language", "extends")
    list_display: tuple[str, ...] = ("name", "is_default", "language", "extends", "updated_at")
    list_select_related = ("extends",)
    search_fields = ("name",)
    actions = ("make_default", "copy_selected")

    # --- vacancies that use a form ---

    def use(self, request: UserRequest, form: Form) -> JsonObject:
        """Return {"total", "published", "some": [{"label", "url"}]} of the vacancies that use
        `form`. `some` has only vacancies that the user may view.
        """
        return {"total": 0, "published": 0, "some": []}

    def is_public(self, form: Form) -> bool:
        """Return whether published vacancies use `form`, so that its names may have answers."""
        return False

    def user(self, request: UserRequest, key: object) -> JsonObject | None:
        """Return {"id", "label", "url"} of the vacancy `key` that the builder was opened for."""
        return None

    def give(self, request: UserRequest, form: Form, key: object) -> None:
        """Let the vacancy `key` use `form`."""

    # --- pages ---

    def change_view(
        self, request: UserRequest, object_id: str, *args: object, **kwargs: object
    ) -> HttpResponse:
        return BuilderPages(self).builder_view(request, object_id)

    def history_view(self, request: UserRequest, object_id: str, **kwargs: object) -> HttpResponse:
        return FormHistoryPages(self).history_view(request, object_id)

    # --- changelist ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[Form]:
        return super().get_queryset(request).defer("structure")

    @admin.action(description=gettext_lazy("Set as the site's form"), permissions=["make_default"])
    def make_default(self, request: UserRequest, queryset: QuerySet[Form]) -> HttpResponse | None:
        """Ask, then set the site's form."""
        if len(chosen := list(queryset[:2])) != 1:
            self.message_user(request, _("Choose one form. A site has only one."), messages.WARNING)
            return None
        [form] = chosen
        if not is_confirmed(request):
            return self._confirm_default(request, form)
        try:
            operations.make_default(form=form)
        except ValidationError as error:
            self.message_user(request, error.message, messages.WARNING)
            return None
        self.log_change(request, form, "Made the site's form.")
        text = _("“%(form)s” is now the form of every vacancy that has no other form.")
        self.message_user(request, text % {"form": form}, messages.SUCCESS)
        return None

    def _confirm_default(self, request: UserRequest, form: Form) -> HttpResponse:
        now = Form.objects.default().exclude(pk=form.pk).first()
        replaced = _("“%(form)s” is the site's form now and is replaced.")
        text = _("“%(form)s” becomes the form of every vacancy that has no other form.")
        return ask(
            self,
            request,
            label=_("Set as the site's form"),
            icon="check",
            text=text % {"form": form},
            overwritten=[replaced % {"form": now}] if now else [],
        )

    def has_make_default_permission(self, request: HttpRequest) -> bool:
        """Setting the site's form changes every vacancy that has no other form."""
        return self.has_change_permission(request)

    @admin.action(description=gettext_lazy("Copy"), permissions=["add"])
    def copy_selected(self, request: UserRequest, queryset: QuerySet[Form]) -> HttpResponse | None:
        if not is_confirmed(request):
            rows = [ActionRow(str(form)) for form in queryset]
            return ask(
                self,
                request,
                label=_("Copy"),
                icon="content_copy",
                text=_("Creates a form with the same questions and another name."),
                sections=[ActionSection(_("Application forms"), rows)],
            )
        for form in queryset.select_related("extends").defer(None):
            made = operations.copy(form=form, author=request.user)
            self.log_addition(request, made, f"Copied from “{form}”.")
            self.message_user(
                request, _("“%(form)s” was created.") % {"form": made}, messages.SUCCESS
            )
        return None

    # --- adding: name and language, then the builder ---

    def save_model(self, request: UserRequest, obj: Form, form: ModelForm, change: bool) -> None:
        made = operations.create(structure=[], author=request.user, **form.cleaned_data)
        obj.pk, obj.name = made.pk, made.name

    def response_add(
        self, request: UserRequest, obj: Form, post_url_continue: str | None = None
    ) -> HttpResponse:
        return redirect(address("change", obj))

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: object
    ) -> ModelChoiceField | None:
        if db_field.name == "extends":
            kwargs["queryset"] = self.get_queryset(request).filter(extends=None)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    # --- deleting: only unused forms ---

    def get_deleted_objects(self, objs: Sequence[Form], request: UserRequest) -> tuple:
        """Protect forms in use, also without a foreign key:
        vacancies without a form use the site's form.
        """
        to_delete, counts, perms, protected = super().get_deleted_objects(objs, request)
        for form in objs:
            total = self.use(request, form)["total"]
            if form.is_default:
                protected.append(_("“%(form)s” is the site's form") % {"form": form})
            elif total:
                text = ngettext(
                    "“%(form)s” is used by %(count)s vacancy",
                    "“%(form)s” is used by %(count)s vacancies",
                    total,
                )
                protected.append(text % {"form": form, "count": total})
        return to_delete, counts, perms, protected

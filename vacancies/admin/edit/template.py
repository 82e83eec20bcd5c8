"""Vacancy templates: their list, saving a vacancy as one, and new vacancies from one."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import ForeignKey, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.admin.pages import AdminPages
from jobsite.text.formats import format_datetime
from jobsite.types import UserRequest
from vacancies.admin.brand_access import brand_choices
from vacancies.admin.edit.forms import Start
from vacancies.admin.edit.prefill import files_of, initial_values, link_rows, recruiter_rows
from vacancies.admin.edit.texts import texts_in
from vacancies.history.diff import field_values
from vacancies.history.versions import PUBLICATION, Content, read_content
from vacancies.models import Attachment, Place, VacancyRecruiter, VacancyTemplate
from vacancies.operations.rows import store_uploads
from vacancies.operations.texts import cleaned_texts
from vacancies.querysets import own_brand

LIST = "admin:vacancies_vacancytemplate_changelist"
MAX_TEMPLATES = 20  # templates on the page of a new vacancy
ADD = "vacancies.add_vacancytemplate"
CHANGE = "vacancies.change_vacancytemplate"


class TemplateForm(forms.ModelForm):
    class Meta:
        model = VacancyTemplate
        fields = ("name", "brand")
        widgets = {"name": UnfoldAdminTextInputWidget, "brand": UnfoldAdminSelectWidget}

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        brand_choices(self.fields["brand"], user)


def for_template(values: Content) -> Content:
    """Return `values`, the content of a vacancy, without what only one vacancy has."""
    left_out = (*PUBLICATION, "reference")
    return {name: value for name, value in values.items() if name not in left_out}


@admin.register(VacancyTemplate)
class VacancyTemplateAdmin(JobsiteAdmin):
    """The templates. Vacancies are saved as templates on their own page."""

    list_display = ("name", "of_brand", "changed", "use")
    search_fields = ("name",)
    fields = ("name", "brand", "edit_content", "shown_content")
    readonly_fields = ("edit_content", "shown_content")

    def get_queryset(self, request: UserRequest) -> QuerySet:
        rows: Any = super().get_queryset(request)
        return rows.usable_by(request.user).select_related("brand", "updated_by")

    def has_add_permission(self, request: UserRequest) -> bool:
        return False

    def has_change_permission(
        self, request: UserRequest, obj: VacancyTemplate | None = None
    ) -> bool:
        return super().has_change_permission(request, obj) and (
            obj is None or is_own(request.user, obj)
        )

    def has_delete_permission(
        self, request: UserRequest, obj: VacancyTemplate | None = None
    ) -> bool:
        return super().has_delete_permission(request, obj) and (
            obj is None or is_own(request.user, obj)
        )

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: object
    ) -> Any:
        field: Any = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if db_field.name == "brand":
            brand_choices(field, request.user)
        return field

    def save_model(
        self, request: UserRequest, obj: VacancyTemplate, form: object, change: bool
    ) -> None:
        obj.updated_by, obj.updated_at = request.user, timezone.now()
        super().save_model(request, obj, form, change)

    @display(description=gettext_lazy("Brand"))
    def of_brand(self, template: VacancyTemplate) -> str:
        return template.brand.name if template.brand else _("All brands")

    @display(description=gettext_lazy("Last change"), ordering="updated_at")
    def changed(self, template: VacancyTemplate) -> str:
        return format_datetime(template.updated_at)

    @display(description=gettext_lazy("New vacancy"))
    def use(self, template: VacancyTemplate) -> str:
        return _link(template, "", _("New vacancy from “%(name)s”") % {"name": template.name})

    @display(description=gettext_lazy("Texts and options"))
    def edit_content(self, template: VacancyTemplate) -> str:
        return _link(template, "&edit=1", _("Edit the content"))

    @display(description=gettext_lazy("Content"))
    def shown_content(self, template: VacancyTemplate) -> str:
        texts = ((each.label, each.marked) for each in field_values(template.content))
        rows = format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", texts)
        return format_html('<dl class="diff">{}</dl>', rows)


def _link(template: VacancyTemplate, more: str, text: str) -> str:
    url = f"{reverse('admin:vacancies_vacancy_add')}?template={template.pk}{more}"
    return format_html('<a class="text-link" href="{}">{}</a>', url, text)


def is_own(user: User, template: VacancyTemplate) -> bool:
    """Return whether `user` may change `template`:
    one for all brands only who works for every brand.
    """
    return VacancyTemplate.objects.filter(own_brand(user), pk=template.pk).exists()


class TemplatePages(AdminPages):
    """The page that saves a vacancy as a template."""

    def urls(self) -> list[URLPattern]:
        return [self.url("<path:object_id>/template/", self.template_view, "template")]

    def template_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        vacancy = get_object_or_404(self.admin.get_queryset(request), pk=as_id(object_id))
        if not (self.admin.has_view_permission(request, vacancy) and request.user.has_perm(ADD)):
            raise PermissionDenied
        form = TemplateForm(
            request.POST if request.method == "POST" else None,
            user=request.user,
            initial={"name": vacancy.title[:200], "brand": vacancy.brand_id},
        )
        if request.method == "POST" and form.is_valid():
            form.instance.content = for_template(read_content(vacancy))
            form.instance.updated_by = request.user
            try:
                with transaction.atomic():
                    template = form.save()
            except IntegrityError:  # a concurrent request took the name
                form.add_error("name", _("There is a template with this name."))
            else:
                self.admin.message_user(request, saved_text(template), messages.SUCCESS)
                return redirect(LIST)
        title = _("Save as template: %(vacancy)s") % {"vacancy": vacancy}
        context = self.context(
            request, title, original=vacancy, form=form, media=self.admin.media + form.media
        )
        return TemplateResponse(
            request, "admin/vacancies/vacancy/edit/save_as_template.html", context
        )


def saved_text(template: VacancyTemplate) -> str:
    return _("The template “%(name)s” was saved.") % {"name": template.name}


# --- new vacancies that start from a template, and the form that edits one ---


def template_of(request: UserRequest) -> VacancyTemplate | None:
    """Return the template in the URL. Raises Http404 if the user cannot use it."""
    if "template" not in request.GET:
        return None
    rows = VacancyTemplate.objects.usable_by(request.user)
    template = rows.filter(pk__in=[as_id(request.GET["template"])]).first()
    if template is None:
        raise Http404
    if "edit" in request.GET and not (
        request.user.has_perm(CHANGE) and is_own(request.user, template)
    ):
        raise PermissionDenied
    return template


def start_of(template: VacancyTemplate, user: User) -> Start:
    """Return what the form of a new vacancy starts with."""
    initial, missing = initial_values(template.content, user)
    people, gone = recruiter_rows(template.content)
    rows = {
        Place: template.content.get("places") or [],
        VacancyRecruiter: people,
        Attachment: link_rows(template.content),
    }
    image = template.content.get("image") or ""
    texts = texts_in(template.content)
    return Start(initial, rows, image, texts, not_filled_in=missing + gone)


def chosen_files(request: UserRequest, template: VacancyTemplate) -> list[dict[str, str]]:
    """Return the attached files of the template that the user chose. A new vacancy shares the
    stored files, as copies of a vacancy do.
    """
    ticked = request.POST.getlist("template_files")
    return [
        {"name": each["name"], "file": each["file"], "url": ""}
        for each in files_of(template.content)
        if each["file"] in ticked
    ]


def save_template(template: VacancyTemplate, values: Content, user: User) -> None:
    """Save the content of a form as that of the template."""
    template.content = store_uploads(for_template(values | cleaned_texts(values, values)))
    template.updated_by, template.updated_at = user, timezone.now()
    template.save()


def template_context(request: UserRequest, template: VacancyTemplate | None) -> dict[str, object]:
    """Return what the page of a new vacancy shows about templates."""
    ticked = request.POST.getlist("template_files")
    context: dict[str, Any] = {
        "vacancy_template": template,
        "is_template_edited": template is not None and "edit" in request.GET,
        "template_files": [
            {**each, "is_ticked": request.method == "GET" or each["file"] in ticked}
            for each in (files_of(template.content) if template else [])
        ],
    }
    if template is None and request.method == "GET" and "_popup" not in request.GET:
        context["templates"] = VacancyTemplate.objects.usable_by(request.user)[:MAX_TEMPLATES]
    if context["is_template_edited"]:
        context["title"] = _("Edit template: %(name)s") % {"name": template}
    return context

"""Vacancy templates: their list, saving a vacancy as one, and new vacancies from one."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
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
from jobsite.db.transactions import dry_run
from jobsite.text.formats import format_datetime
from vacancies.admin.brand_access import brands_of
from vacancies.admin.prefill import files_of, filled, initial_values, link_rows, recruiter_rows
from vacancies.history.diff import described
from vacancies.history.versions import PUBLICATION, Content, content
from vacancies.models import Approval, Attachment, Vacancy, VacancyRecruiter, VacancyTemplate
from vacancies.querysets import EVERY_BRAND, own_brand

OFFERED = 20  # templates on the page of a new vacancy
ADD = "vacancies.add_vacancytemplate"
CHANGE = "vacancies.change_vacancytemplate"


def brand_choices(field: Any, user: Any) -> None:
    """Let `field` offer the brands of `user`. All brands are for users who work for every brand."""
    field.queryset = brands_of(user)
    if not user.has_perm(EVERY_BRAND):
        field.required, field.empty_label = True, None
    else:
        field.empty_label = _("All brands")


class TemplateForm(forms.ModelForm):
    class Meta:
        model = VacancyTemplate
        fields = ("name", "brand")
        widgets = {"name": UnfoldAdminTextInputWidget, "brand": UnfoldAdminSelectWidget}

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        brand_choices(self.fields["brand"], user)


def content_of(vacancy: Vacancy) -> Content:
    """Return the content of `vacancy` for a template."""
    return {name: value for name, value in content(vacancy).items() if name not in PUBLICATION}


@admin.register(VacancyTemplate)
class VacancyTemplateAdmin(JobsiteAdmin):
    """The templates. Vacancies are saved as templates on their own page."""

    list_display = ("name", "of_brand", "changed", "use")
    search_fields = ("name",)
    fields = ("name", "brand", "edit_content", "shown_content")
    readonly_fields = ("edit_content", "shown_content")

    def get_queryset(self, request: HttpRequest) -> Any:
        rows: Any = super().get_queryset(request)
        return rows.usable_by(request.user).select_related("brand", "updated_by")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or is_own(request.user, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or is_own(request.user, obj))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field: Any = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if db_field.name == "brand":
            brand_choices(field, request.user)
        return field

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.updated_by, obj.updated_at = request.user, timezone.now()
        super().save_model(request, obj, form, change)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Check access: Django's view does not use `get_queryset`."""
        get_object_or_404(self.get_queryset(request), pk=as_id(object_id))
        return super().history_view(request, object_id, extra_context)

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
        texts = ((each.label, each.marked) for each in described(template.content))
        rows = format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", texts)
        return format_html('<dl class="diff">{}</dl>', rows)


def _link(template: VacancyTemplate, more: str, text: str) -> str:
    url = f"{reverse('admin:vacancies_vacancy_add')}?template={template.pk}{more}"
    return format_html('<a class="text-link" href="{}">{}</a>', url, text)


def is_own(user: Any, template: VacancyTemplate) -> bool:
    """Return whether `user` may change `template`: one for all brands only who works for every brand."""
    return VacancyTemplate.objects.filter(own_brand(user), pk=template.pk).exists()


class TemplatesAdmin(JobsiteAdmin):
    """The templates on the pages of vacancies: save as one, start from one, and edit one."""

    def get_urls(self) -> list[URLPattern]:
        return [*self.object_urls({"template": self.template_view}), *super().get_urls()]

    def template_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Save a vacancy as a template."""
        vacancy = get_object_or_404(self.get_queryset(request), pk=as_id(object_id))
        if not (self.has_view_permission(request, vacancy) and request.user.has_perm(ADD)):
            raise PermissionDenied
        form = TemplateForm(
            request.POST if request.method == "POST" else None,
            user=request.user,
            initial={"name": vacancy.title[:200], "brand": vacancy.brand_id},
        )
        if request.method == "POST" and form.is_valid():
            form.instance.content = content_of(vacancy)
            form.instance.updated_by = request.user
            try:
                with transaction.atomic():
                    template = form.save()
            except IntegrityError:  # a concurrent request took the name
                form.add_error("name", _("There is a template with this name."))
            else:
                text = _("The template “%(name)s” was saved.") % {"name": template.name}
                self.message_user(request, text, messages.SUCCESS)
                return redirect("admin:vacancies_vacancytemplate_changelist")
        context = {
            **self.admin_site.each_context(request),
            "title": _("Save as template: %(vacancy)s") % {"vacancy": vacancy},
            "opts": self.opts,
            "original": vacancy,
            "form": form,
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/save_as_template.html", context)

    # --- start from a template, edit one ---

    def template_of(self, request: HttpRequest) -> VacancyTemplate | None:
        """Return the template in the URL. Raises Http404 if the user cannot use it."""
        if "template" not in request.GET:
            return None
        rows = VacancyTemplate.objects.usable_by(request.user)
        template = rows.filter(pk__in=[as_id(request.GET["template"])]).first()
        if template is None:
            raise Http404
        if "edit" in request.GET and not (request.user.has_perm(CHANGE) and is_own(request.user, template)):
            raise PermissionDenied
        return template

    def edited_template(self, request: HttpRequest) -> VacancyTemplate | None:
        """Return the template that the form of a new vacancy edits."""
        return self.template_of(request) if "edit" in request.GET else None

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        if obj is None and (template := self.template_of(request)):
            initial, missing = initial_values(template.content, request.user)
            people, gone = recruiter_rows(template.content)
            request.not_filled_in = missing + gone  # type: ignore[attr-defined]
            if request.method == "GET":
                rows = {VacancyRecruiter: people, Attachment: link_rows(template.content)}
                request.initial_rows = rows  # type: ignore[attr-defined]
            return filled(form, initial, template.content.get("image") or "")
        if obj is not None and (approval := self._changes_of(request, obj)):
            initial, missing = initial_values(approval.changes, request.user)
            lists = {"recruiters": _("Other recruiters"), "attachments": _("Attachments")}
            missing += [label for name, label in lists.items() if name in approval.changes]
            request.not_filled_in = missing  # type: ignore[attr-defined]
            return filled(form, initial)
        return form

    def _changes_of(self, request: HttpRequest, vacancy: Vacancy) -> Approval | None:
        """Return the request for approval in the URL, with which the form is filled."""
        if request.method != "GET" or "changes" not in request.GET:
            return None
        rows = Approval.objects.filter(own_brand(request.user), vacancy=vacancy.pk)
        return rows.filter(pk__in=[as_id(request.GET["changes"])]).first()

    def get_formset_kwargs(self, request: HttpRequest, obj: Any, inline: Any, prefix: str) -> dict[str, Any]:
        """Add the rows of the template. The inlines make room for them."""
        kwargs = super().get_formset_kwargs(request, obj, inline, prefix)
        if rows := inline.initial_rows(request):
            kwargs["initial"] = rows
        return kwargs

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        context["not_filled_in"] = getattr(request, "not_filled_in", [])
        vacancy = kwargs.get("obj") or context.get("original")
        if vacancy is None:
            template = self.template_of(request)
            ticked = request.POST.getlist("template_files")
            context["vacancy_template"] = template
            context["is_template_edited"] = template is not None and "edit" in request.GET
            context["template_files"] = [
                {**each, "is_ticked": request.method == "GET" or each["file"] in ticked}
                for each in (files_of(template.content) if template else [])
            ]
            if template is None and request.method == "GET" and "_popup" not in request.GET:
                context["templates"] = VacancyTemplate.objects.usable_by(request.user)[:OFFERED]
            if context["is_template_edited"]:
                context["title"] = _("Edit template: %(name)s") % {"name": template}
        else:
            context["may_save_template"] = request.user.has_perm(ADD)
        return super().render_change_form(request, context, *args, **kwargs)

    # --- saving ---

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change or self.edited_template(request) is None:
            super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: list[Any], change: bool) -> None:
        vacancy = form.instance
        template = None if change else self.template_of(request)
        is_edited = template is not None and "edit" in request.GET
        with dry_run(is_edited):  # a template is saved as a vacancy to get its content, then rolled back
            if is_edited:
                super().save_model(request, vacancy, form, change)
            if template:
                self._add_files(request, template, vacancy)
            super().save_related(request, form, formsets, change)
            stored = content_of(vacancy) if is_edited else {}
        if template is None or not is_edited:
            return
        template.content = stored
        user: Any = request.user
        template.updated_by, template.updated_at = user, timezone.now()
        template.save()
        vacancy.edited_template = template

    def _add_files(self, request: HttpRequest, template: VacancyTemplate, vacancy: Vacancy) -> None:
        """Attach the chosen files of the template. They share the stored file, as copies of a vacancy do."""
        ticked = request.POST.getlist("template_files")
        Attachment.objects.bulk_create(
            Attachment(vacancy=vacancy, name=each["name"], file=each["file"], position=0)
            for each in files_of(template.content)
            if each["file"] in ticked
        )

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        if not hasattr(obj, "edited_template"):
            return super().log_addition(request, obj, message)
        return None

    def response_add(self, request: HttpRequest, obj: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if hasattr(obj, "edited_template"):
            text = _("The template “%(name)s” was saved.") % {"name": obj.edited_template.name}
            self.message_user(request, text, messages.SUCCESS)
            return redirect("admin:vacancies_vacancytemplate_changelist")
        return super().response_add(request, obj, *args, **kwargs)

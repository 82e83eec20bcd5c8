"""The history of a vacancy in the admin: who changed what and when, and how to restore a version, also of a
deleted vacancy."""

from itertools import accumulate
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _

from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.text.formats import format_datetime
from vacancies.admin.form import forms_for
from vacancies.approval import SUBMITTED
from vacancies.approving import submit_restore
from vacancies.history.diff import differences, field_labels
from vacancies.history.versions import (
    EXCLUDED_FIELDS,
    Content,
    bare,
    content,
    content_at,
    record,
    record_drift,
)
from vacancies.models import Change, Vacancy, Version, needs_approval
from vacancies.operations import restore
from vacancies.querysets import own_brand

VERSIONS_SHOWN = 20


def readable_by(user: Any) -> QuerySet[Version]:
    """Return the versions from when the vacancy belonged to a brand of `user`. Without multi-branding, this
    includes versions without a brand, as in `workable_by`."""
    return Version.objects.filter(own_brand(user))


def row(
    versions: list[Version], contents: list[Content], index: int, labels: dict[str, str]
) -> dict[str, Any]:
    """Return the context of the version at `index`. `contents` holds the full content after each version."""
    version, before = versions[index], contents[index - 1] if index else {}
    is_baseline = version.change == Change.FOUND and "title" not in before
    return {
        "version": version,
        "created_at": format_datetime(version.created_at),
        "is_baseline": is_baseline,
        "differences": [] if is_baseline else differences(before, contents[index], labels),
        "is_current": index == len(versions) - 1 and version.change != Change.DELETED,
        "can_restore": "title" in contents[index],
    }


class HistoryAdmin(JobsiteAdmin):
    """Records a version for each change in the admin, and shows the history."""

    def get_urls(self) -> list[URLPattern]:
        deleted, restore = map(self.admin_site.admin_view, (self.deleted_view, self.restore_view))
        one = "<path:object_id>/versions/<int:number>/"
        return [
            path("deleted/", deleted, name="vacancies_vacancy_deleted"),
            path(one, restore, name="vacancies_vacancy_restore"),
            *super().get_urls(),
        ]

    # --- recording ---

    def save_model(self, request: HttpRequest, obj: Vacancy, form: Any, change: bool) -> None:
        if change:
            record_drift(obj, at=timezone.now())
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: list[Any], change: bool) -> None:
        """Save the inlines. The vacancy is complete now, so record its version."""
        super().save_related(request, form, formsets, change)
        vacancy = form.instance
        if change and (form.has_changed() or any(formset.has_changed() for formset in formsets)):
            vacancy.updated_at = timezone.now()
            vacancy.save(update_fields=["updated_at"])
        kind = Change.CHANGED if change else Change.CREATED
        record(vacancy, kind, author=request.user, at=vacancy.updated_at)

    # --- reading ---

    def versions(self, request: HttpRequest, object_id: Any) -> QuerySet[Version]:
        """Return the versions of one vacancy that the user may read, oldest first.

        Raises Http404 if there are none, or if the vacancy belongs or belonged to another brand.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        pk = as_id(object_id)
        exists = Vacancy.objects.filter(pk__in=[pk]).exists()
        if exists and not self.get_queryset(request).filter(pk=pk).exists():
            raise Http404
        versions = readable_by(request.user).filter(vacancy__in=[pk]).order_by("pk")
        if not exists:
            last = Version.objects.filter(vacancy__in=[pk]).order_by("pk").last()
            if last is None or last not in versions:
                raise Http404
        return versions

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        versions = list(self.versions(request, object_id).select_related("author"))
        vacancy = Vacancy.objects.filter(pk__in=[as_id(object_id)]).first()
        contents = list(accumulate((version.content for version in versions), lambda a, b: a | b))
        page = Paginator(range(len(versions) - 1, -1, -1), VERSIONS_SHOWN).get_page(request.GET.get("page"))
        labels = field_labels()
        rows = [row(versions, contents, index, labels) for index in page]
        context = {
            **self.admin_site.each_context(request),
            "title": _("History of %(vacancy)s") % {"vacancy": vacancy or contents[-1].get("title", "")},
            "opts": self.opts,
            "original": vacancy,
            "object_id": as_id(object_id),
            "rows": rows,
            "page": page,
            "can_change": self.may_restore(request, vacancy),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/history.html", context)

    def may_restore(self, request: HttpRequest, vacancy: Vacancy | None) -> bool:
        """Restoring needs the change permission, and for a deleted vacancy the add permission."""
        if vacancy is None:
            return self.has_add_permission(request)
        return self.has_change_permission(request, vacancy)

    def restore_view(self, request: HttpRequest, object_id: str, number: int) -> HttpResponse:
        """GET shows what restoring the version changes. POST restores it."""
        version = get_object_or_404(self.versions(request, object_id), pk=as_id(number))
        vacancy = Vacancy.objects.filter(pk=version.vacancy_id).first()
        if not self.may_restore(request, vacancy):
            raise PermissionDenied
        wanted = content_at(version)
        if "title" not in wanted:
            raise Http404
        is_request = vacancy and needs_approval(
            before=vacancy, after=vacancy, changed=wanted, at=timezone.now()
        )
        if request.method == "POST":
            try:
                forms = forms_for(request.user)  # its form may belong to another brand by now
                if is_request:
                    submit_restore(version, author=request.user, at=timezone.now(), forms=forms)
                    self.message_user(request, SUBMITTED, messages.SUCCESS)
                    return redirect("admin:vacancies_vacancy_change", version.vacancy_id)
                vacancy, gone = restore(version, author=request.user, at=timezone.now(), forms=forms)
            except ValidationError as error:
                for text in error.messages:
                    self.message_user(request, text, messages.ERROR)
                return redirect("admin:vacancies_vacancy_history", version.vacancy_id)
            self.message_user(request, _("The version was restored."), messages.SUCCESS)
            if gone:
                text = _("Not restored because they no longer exist: %(names)s.") % {"names": ", ".join(gone)}
                self.message_user(request, text, messages.WARNING)
            return redirect("admin:vacancies_vacancy_change", vacancy.pk)
        now = content(vacancy) if vacancy else {}
        context = {
            **self.admin_site.each_context(request),
            "title": _("Restore: %(vacancy)s") % {"vacancy": vacancy or wanted["title"]},
            "opts": self.opts,
            "original": vacancy,
            "version": version,
            "is_request": is_request,
            "differences": [
                each
                for each in differences(now, wanted)
                if not vacancy
                or (each.name not in EXCLUDED_FIELDS and bare(now.get(each.name)) != bare(wanted[each.name]))
            ],
            "is_shown": vacancy and Vacancy.objects.filter(pk=vacancy.pk).shown(at=timezone.now()).exists(),
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/restore.html", context)

    def deleted_view(self, request: HttpRequest) -> HttpResponse:
        """List the deleted vacancies that can be restored, the latest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        versions = readable_by(request.user).filter(change=Change.DELETED).order_by("-pk")
        gone = versions.exclude(Exists(Vacancy.objects.filter(pk=OuterRef("vacancy"))))
        # A vacancy that was deleted, restored and deleted again appears once.
        later = Version.objects.filter(vacancy=OuterRef("vacancy"), pk__gt=OuterRef("pk"))
        gone = gone.exclude(Exists(later)).select_related("author", "brand")
        page = Paginator(gone, VERSIONS_SHOWN).get_page(request.GET.get("page"))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Deleted vacancies"),
            "opts": self.opts,
            "rows": [(each, format_datetime(each.created_at)) for each in page],
            "page": page,
            "can_restore": self.has_add_permission(request),
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/deleted.html", context)

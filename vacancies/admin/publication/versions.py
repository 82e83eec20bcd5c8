"""The history of a vacancy in the admin: who changed what and when, and how to restore a version,
also of a deleted vacancy.
"""

from itertools import accumulate

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import Context, UserRequest
from vacancies.access.brands import forms_for, readable_by
from vacancies.admin.publication.approval import requests_about
from vacancies.history.diff import differences, field_labels
from vacancies.history.versions import (
    EXCLUDED_FIELDS,
    Content,
    changed_content,
    content_at,
    read_content,
)
from vacancies.models import Change, Vacancy, Version, needs_approval
from vacancies.operations.approval_requests import SUBMITTED
from vacancies.operations.restore import restore

VERSIONS_SHOWN = 20


def row(
    versions: list[Version], contents: list[Content], index: int, labels: dict[str, str]
) -> Context:
    """Return the context of the version at `index`.
    `contents` holds the full content after each version.
    """
    version, before = versions[index], contents[index - 1] if index else {}
    is_baseline = version.change == Change.EXTERNAL and "title" not in before
    return {
        "version": version,
        "created_at": format_datetime(version.created_at),
        "is_baseline": is_baseline,
        "differences": [] if is_baseline else differences(before, contents[index], labels),
        "is_current": index == len(versions) - 1 and version.change != Change.DELETED,
        "can_restore": "title" in contents[index],
    }


class VersionPages(AdminPages):
    """The history of a vacancy, the page that restores a version, and the list of deleted
    vacancies.
    """

    def urls(self) -> list[URLPattern]:
        return [
            self.url("deleted/", self.deleted_view, "deleted"),
            self.url("<path:object_id>/versions/<int:number>/", self.restore_view, "restore"),
        ]

    def versions(self, request: UserRequest, object_id: object) -> QuerySet[Version]:
        """Return the versions of one vacancy that the user may read, oldest first.

        Raises Http404 if there are none, or if the vacancy belongs or belonged to another brand.
        """
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        pk = as_id(object_id)
        exists = Vacancy.objects.filter(pk__in=[pk]).exists()
        if exists and not self.admin.get_queryset(request).filter(pk=pk).exists():
            raise Http404
        versions = readable_by(request.user).filter(vacancy__in=[pk]).order_by("pk")
        if not exists:
            last = Version.objects.filter(vacancy__in=[pk]).order_by("pk").last()
            if last is None or last not in versions:
                raise Http404
        return versions

    def history_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        versions = list(self.versions(request, object_id).select_related("author"))
        vacancy = Vacancy.objects.filter(pk__in=[as_id(object_id)]).first()
        contents = list(accumulate((version.content for version in versions), lambda a, b: a | b))
        page = Paginator(range(len(versions) - 1, -1, -1), VERSIONS_SHOWN).get_page(
            request.GET.get("page")
        )
        labels = field_labels()
        rows = [row(versions, contents, index, labels) for index in page]
        team = list(vacancy.team.select_related("user")) if vacancy else []
        for each, index in zip(rows, page, strict=True):
            if index and contents[index - 1].get("brand") != contents[index].get("brand"):
                at = versions[index].created_at
                each["team"] = [person(one.user) for one in team if one.added_at < at]
        context = self.context(
            request,
            _("History of %(vacancy)s") % {"vacancy": vacancy or contents[-1].get("title", "")},
            original=vacancy,
            object_id=as_id(object_id),
            rows=rows,
            page=page,
            can_change=self.may_restore(request, vacancy),
            approvals=requests_about(request.user, object_id),
        )
        return TemplateResponse(
            request, "admin/vacancies/vacancy/publication/history.html", context
        )

    def may_restore(self, request: UserRequest, vacancy: Vacancy | None) -> bool:
        """Restoring needs the change permission, and for a deleted vacancy the add permission."""
        if vacancy is None:
            return self.admin.has_add_permission(request)
        return self.admin.has_change_permission(request, vacancy)

    def restore_view(self, request: UserRequest, object_id: str, number: int) -> HttpResponse:
        """GET shows what restoring the version changes. POST restores it."""
        version = get_object_or_404(self.versions(request, object_id), pk=as_id(number))
        vacancy = Vacancy.objects.filter(pk=version.vacancy_id).first()
        if not self.may_restore(request, vacancy):
            raise PermissionDenied
        wanted = content_at(version)
        if "title" not in wanted:
            raise Http404
        if request.method == "POST":
            return self._restore(request, version)
        now = read_content(vacancy) if vacancy else {}
        changed = changed_content(now, wanted)
        if vacancy:
            changed = {
                name: value for name, value in changed.items() if name not in EXCLUDED_FIELDS
            }
        at = timezone.now()
        context = self.context(
            request,
            _("Restore: %(vacancy)s") % {"vacancy": vacancy or wanted["title"]},
            original=vacancy,
            version=version,
            is_request=vacancy
            and needs_approval(before=vacancy, after=vacancy, changed=changed, at=at),
            differences=differences(now, changed),
            is_shown=vacancy and Vacancy.objects.filter(pk=vacancy.pk).visible(at=at).exists(),
        )
        return TemplateResponse(
            request, "admin/vacancies/vacancy/publication/restore.html", context
        )

    def _restore(self, request: UserRequest, version: Version) -> HttpResponse:
        forms = forms_for(request.user)  # its form may belong to another brand by now
        try:
            saved = restore(version, author=request.user, at=timezone.now(), forms=forms)
        except ValidationError as error:
            for text in error.messages:
                self.admin.message_user(request, text, messages.ERROR)
            return redirect("admin:vacancies_vacancy_history", version.vacancy_id)
        text = str(SUBMITTED) if saved.approval else _("The version was restored.")
        self.admin.message_user(request, text, messages.SUCCESS)
        if gone := saved.plan.missing:
            text = _("Not restored because they no longer exist: %(names)s.") % {
                "names": ", ".join(gone)
            }
            self.admin.message_user(request, text, messages.WARNING)
        return redirect("admin:vacancies_vacancy_change", version.vacancy_id)

    def deleted_view(self, request: UserRequest) -> HttpResponse:
        """List the deleted vacancies that can be restored, the latest first."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        versions = readable_by(request.user).filter(change=Change.DELETED).order_by("-pk")
        gone = versions.exclude(Exists(Vacancy.objects.filter(pk=OuterRef("vacancy"))))
        # A vacancy that was deleted, restored and deleted again appears once.
        later = Version.objects.filter(vacancy=OuterRef("vacancy"), pk__gt=OuterRef("pk"))
        gone = gone.exclude(Exists(later)).select_related("author", "brand")
        page = Paginator(gone, VERSIONS_SHOWN).get_page(request.GET.get("page"))
        context = self.context(
            request,
            _("Deleted vacancies"),
            rows=[(each, format_datetime(each.created_at)) for each in page],
            page=page,
            can_restore=self.admin.has_add_permission(request),
        )
        return TemplateResponse(
            request, "admin/vacancies/vacancy/publication/deleted.html", context
        )

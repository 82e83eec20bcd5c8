"""The versions of a vacancy in the workplace: who changed what and when, and the way back, also from the
dead."""

from itertools import accumulate
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _

from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.formats import format_datetime
from vacancies.admin.form import forms_for
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
from vacancies.models import Change, Vacancy, Version
from vacancies.operations import restore
from vacancies.querysets import own_brand

VERSIONS_SHOWN = 20


def readable_by(user: Any) -> QuerySet[Version]:
    """The versions from when the vacancies were of a brand of `user`; without multi-branding, also from
    when they had none, as `workable_by` has it."""
    return Version.objects.filter(own_brand(user))


def row(
    versions: list[Version], contents: list[Content], index: int, labels: dict[str, str]
) -> dict[str, Any]:
    """What the page shows of the version at `index`, of `versions` with the `contents` after each."""
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
    """The pages of vacancies that put on record what is done on them, and show the record."""

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

    def log_addition(self, request: HttpRequest, obj: Vacancy, message: Any) -> Any:
        record(obj, Change.CREATED, author=request.user, at=obj.updated_at)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Vacancy, message: Any) -> Any:
        record(obj, Change.CHANGED, author=request.user, at=obj.updated_at)
        return super().log_change(request, obj, message)

    def delete_model(self, request: HttpRequest, obj: Vacancy) -> None:
        record_drift(obj, at=timezone.now())
        record(obj, Change.DELETED, author=request.user, at=timezone.now())
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet) -> None:
        with transaction.atomic():
            # Locked: what somebody saves between the record of a vacancy and its deletion would be lost.
            pks = list(queryset.values_list("pk", flat=True))
            for vacancy in Vacancy.objects.filter(pk__in=pks).order_by("pk").select_for_update():
                self.delete_model(request, vacancy)

    # --- reading ---

    def versions(self, request: HttpRequest, object_id: Any) -> QuerySet[Version]:
        """Those of one vacancy that the user may read, oldest first. Raises Http404 without any, and for one
        that is, or was when it was deleted, another brand's."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        pk = as_id(object_id)
        is_there = Vacancy.objects.filter(pk__in=[pk]).exists()
        if is_there and not self.get_queryset(request).filter(pk=pk).exists():
            raise Http404
        versions = readable_by(request.user).filter(vacancy__in=[pk]).order_by("pk")
        if not is_there:
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
        """One that is there is changed by it; one that was deleted is added again."""
        if vacancy is None:
            return self.has_add_permission(request)
        return self.has_change_permission(request, vacancy)

    def restore_view(self, request: HttpRequest, object_id: str, number: int) -> HttpResponse:
        """Shows on GET what bringing the version back would change, and does it on POST."""
        version = get_object_or_404(self.versions(request, object_id), pk=as_id(number))
        vacancy = Vacancy.objects.filter(pk=version.vacancy_id).first()
        if not self.may_restore(request, vacancy):
            raise PermissionDenied
        wanted = content_at(version)
        if "title" not in wanted:
            raise Http404
        if request.method == "POST":
            try:
                forms = forms_for(request.user)  # the form of then may be another brand's by now
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
        """Those that were deleted and may come back, the last one first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        versions = readable_by(request.user).filter(change=Change.DELETED).order_by("-pk")
        gone = versions.exclude(Exists(Vacancy.objects.filter(pk=OuterRef("vacancy"))))
        # of one that was deleted, brought back and deleted again, the last time counts
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

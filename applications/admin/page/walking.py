"""From one application of a list to the next. The page that is opened from a list reads the ids
from it; the others repeat them in their address, so that reading and moving the applications does
not change which one is next. After the last one comes a summary.
"""

from collections import Counter
from copy import copy
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.translation import gettext

from applications.access import sees_whole
from applications.admin.moves.pages import stages
from applications.admin.parts import LIST_QUERY, SERIES, ApplicationPages
from applications.models import Application, Stage
from applications.querysets import ApplicationQuerySet
from jobsite.admin.base import as_id
from jobsite.types import UserRequest

MAX = 200  # of a series: their ids are in the address


@dataclass(frozen=True)
class SeriesPlace:
    """The place of an application among `pks`, those of the list with the query `filters`."""

    index: int
    pks: list[int]
    filters: str

    @property
    def number(self) -> int:
        return self.index + 1

    @property
    def query(self) -> str:
        return _query(self.filters, self.pks)

    @property
    def before(self) -> str:
        return self._url(self.index - 1) if self.index else ""

    @property
    def after(self) -> str:
        return self._url(self.index + 1) if self.number < len(self.pks) else ""

    @property
    def end(self) -> str:
        return f"{reverse('admin:applications_application_summary')}?{self.query}"

    def _url(self, index: int) -> str:
        return f"{_page(self.pks[index])}?{self.query}"


class WalkPages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        return [self.url("summary/", self.summary_view, "summary")]

    def begin(self, request: UserRequest, pks: list[int]) -> HttpResponse:
        """Redirect to the first of the applications `pks` of the list, to the list if there is
        none.
        """
        if not pks:
            return redirect("admin:applications_application_changelist")
        if len(pks) > MAX:
            text = gettext("These are the first %(count)d applications.")
            self.message(request, text % {"count": MAX}, messages.INFO)
        pks = pks[:MAX]
        return redirect(f"{_page(pks[0])}?{_query(request.GET.urlencode(), pks)}")

    def place_of(self, request: UserRequest, application: Application) -> SeriesPlace | None:
        """Return the place of `application` in the list that it was opened from, None if it was
        opened from elsewhere.
        """
        filters, sent = request.GET.get(LIST_QUERY, ""), request.GET.get(SERIES)
        if sent is not None:
            pks = self._visible(request, series_in(sent))
        elif LIST_QUERY in request.GET:
            pks = listed(self.admin, request, filters)
        else:
            return None
        return (
            SeriesPlace(pks.index(application.pk), pks, filters) if application.pk in pks else None
        )

    def summary_view(self, request: UserRequest) -> HttpResponse:
        """Say what became of the applications of a series."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        if not sees_whole(request.user):  # it counts ratings
            return redirect("admin:applications_application_yours")
        pks = self._visible(request, series_in(request.GET.get(SERIES, "")))
        rows: ApplicationQuerySet = Application.objects.filter(pk__in=pks)
        unrated = set(rows.filter(rating=None).values_list("pk", flat=True))
        left = [pk for pk in pks if pk in unrated]
        counts = rows.counts_by_stage()
        by_stage = [(each, counts[each.pk]) for each in stages(request) if each.pk in counts]
        decided: Counter[str] = Counter()
        for stage, count in by_stage:
            decided[stage.kind] += count
        filters = request.GET.get(LIST_QUERY, "")
        context = {
            "count": len(pks),
            "rated": len(pks) - len(left),
            "rejected": decided[Stage.Kind.REJECTED],
            "by_stage": by_stage,
            "media": self.admin.media,
            "list_url": list_url(filters),
            "left": len(left),
            "left_url": f"{_page(left[0])}?{_query(filters, left)}" if left else "",
        }
        template = "admin/applications/application/page/summary.html"
        title = gettext("End of the list")
        return TemplateResponse(request, template, self.context(request, title, **context))

    def _visible(self, request: UserRequest, pks: list[int]) -> list[int]:
        """Return `pks` without what was deleted meanwhile, and what the user may not see."""
        rows = self.admin.get_queryset(request).order_by().filter(pk__in=pks)
        found = set(rows.values_list("pk", flat=True))
        return [pk for pk in pks if pk in found]


def listed(admin: ModelAdmin, request: UserRequest, filters: str) -> list[int]:
    """Return the ids of the list with the query `filters`, from the page that it names; none if it
    is invalid.
    """
    of_list = copy(request)
    of_list.GET = QueryDict(filters)  # type: ignore[assignment]
    try:
        found = admin.get_changelist_instance(of_list)
    except (IncorrectLookupParameters, SuspiciousOperation):
        return []
    start = (found.page_num - 1) * found.list_per_page
    return list(found.paginator.object_list[start : start + MAX])


def series_in(text: str) -> list[int]:
    """Return the ids in `text`, which are separated by "-", once each. Others are left out."""
    found = (as_id(each) for each in text.split("-"))
    return list(dict.fromkeys(pk for pk in found if pk is not None))[:MAX]


def list_url(filters: str) -> str:
    return (
        f"{reverse('admin:applications_application_changelist')}{'?' if filters else ''}{filters}"
    )


def _page(pk: int) -> str:
    return reverse("admin:applications_application_change", args=[pk])


def _query(filters: str, pks: list[int]) -> str:
    return urlencode({LIST_QUERY: filters, SERIES: "-".join(map(str, pks))})

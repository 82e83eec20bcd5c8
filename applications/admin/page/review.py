"""The review: the page of an application as one of a series. Rating and stage are saved at once.
The series is a filter of the list, by id, so that reading and moving the applications does not
change it.
"""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter

from applications.admin.moves.pages import stages
from applications.admin.order import changelist_of
from applications.admin.page.form import RATINGS
from applications.admin.parts import CHANGE, ApplicationPages
from applications.admin.selection import ApplicationSelection
from applications.models import Access, Application, Stage
from applications.operations.access_log import log_access
from jobsite.admin.base import as_id
from jobsite.types import UserRequest

PARAMETER = "review"
MAX = 200  # of a series: their ids are in the address
# The header with which review.js asks for the content of a page without its frame.
FRAGMENT = "X-Fragment"


class ReviewFilter(DropdownFilter):
    """By the series of a review. It is offered only while it is active."""

    title = _("review")
    parameter_name = PARAMETER

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        if not (pks := series_in(self.value())):
            return []
        text = ngettext("%(count)d application", "%(count)d applications", len(pks))
        return [(self.value() or "", text % {"count": len(pks)})]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        pks = series_in(self.value())
        return queryset.filter(pk__in=pks) if pks else queryset


@dataclass(frozen=True)
class SeriesPlace:
    """The place of an application in its series, from 1, with the ids before and after it."""

    number: int
    count: int
    before: int | None
    after: int | None


class ReviewPages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        return [
            self.url("review/", self.review_view, "review"),
            *self.object_urls({"rate": self.rate_view, "read": self.read_view}),
        ]

    def review_view(self, request: UserRequest) -> HttpResponse:
        """Begin a review of the applications that the list shows with the same address."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        changelist = changelist_of(self.admin, request, request.GET)
        found = changelist.hits() if changelist and changelist.query else None
        if found is None:
            rows = changelist.queryset if changelist else self.admin.get_queryset(request)
            found = rows.values_list("pk", flat=True)
        return self.begin(request, list(found[: MAX + 1]))

    def begin(self, request: UserRequest, pks: list[int]) -> HttpResponse:
        """Redirect to the first of the applications."""
        if not pks:
            self.message(request, gettext("No applications."), messages.WARNING)
            return redirect("admin:applications_application_changelist")
        if len(pks) > MAX:
            text = gettext("This review has the first %(count)d applications of the list.")
            self.message(request, text % {"count": MAX}, messages.INFO)
        return redirect(page_in_series(pks[:MAX]))

    # --- saved at once ---

    def rate_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Save the posted rating, empty for none. The answer is JSON for review.js, which sends it
        again if that fails, and the page otherwise.
        """
        application = self.posted_to(request, object_id, CHANGE)
        sent = request.POST.get("rating", "")
        rating = as_id(sent)
        if sent and rating not in RATINGS:
            raise BadRequest(f"rating is {sent!r}. Allowed are 1 to 5, or nothing for no rating.")
        with transaction.atomic():
            Application.objects.filter(pk=application.pk).update(
                rating=rating, updated_at=timezone.now()
            )
            log_access(request.user, Access.CHANGE, application.pk)
            self.admin.log_change(request, application, [{"changed": {"fields": ["Rating"]}}])
        if request.headers.get("Accept") == "application/json":
            text = (
                gettext("rated %(rating)s/5.") % {"rating": rating}
                if rating
                else gettext("not rated.")
            )
            return JsonResponse({"message": text})
        return redirect(self.page_of(request, application))

    def read_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Mark an application as read that review.js shows.
        It was fetched ahead, which does not mark it.
        """
        application = self.posted_to(request, object_id, CHANGE)
        Application.objects.filter(pk=application.pk, read_at=None).update(read_at=timezone.now())
        return JsonResponse({})

    # --- the page ---

    def page_context(
        self, request: UserRequest, application: Application, change_id: int | None
    ) -> dict[str, object]:
        """Return what the page shows if it is part of a series, and nothing otherwise. `change_id`
        is the latest stage change of `application`.
        """
        if (place := self.place_of(request, application)) is None:
            return {}
        all_stages = stages(request)
        return {
            "review": place,
            "newer": place.before,
            "older": place.after,
            "base": "admin/fragment.html" if is_fragment(request) else "",
            "is_nav_sidebar_enabled": False,
            "title": gettext("Review"),
            "ratings": RATINGS,
            "selection": ApplicationSelection({application.pk: change_id}),
            "page_url": self.page_of(request, application),
            "list_url": self.list_of(request),
            "other_stages": [each for each in all_stages if each.pk != application.stage_id],
            "rejected": next(
                (each for each in all_stages if each.kind == Stage.Kind.REJECTED), None
            ),
            "invite_url": invite_url(application),
        }

    def place_of(self, request: UserRequest, application: Application) -> SeriesPlace | None:
        """Return the place of `application` in the series of the address, or None if it is not in
        one. What was deleted meanwhile, or what the user may not see, is left out.
        """
        sent = series_in(filters_of(request).get(PARAMETER))
        if application.pk not in sent:
            return None
        visible = set(
            self.admin.get_queryset(request)
            .order_by()
            .filter(pk__in=sent)
            .values_list("pk", flat=True)
        )
        pks = [pk for pk in sent if pk in visible]
        index = pks.index(application.pk)
        before, after = pks[:index][-1:], pks[index + 1 :][:1]
        return SeriesPlace(index + 1, len(pks), next(iter(before), None), next(iter(after), None))

    def list_of(self, request: UserRequest) -> str:
        query = filters_of(request).urlencode()
        return f"{reverse('admin:applications_application_changelist')}?{query}"


def is_fragment(request: UserRequest) -> bool:
    return FRAGMENT in request.headers


def filters_of(request: UserRequest) -> QueryDict:
    """Return the filters of the list that the address of a page repeats."""
    return QueryDict(request.GET.get("_changelist_filters", ""))


def series_in(text: str | None) -> list[int]:
    """Return the ids in `text`, which are separated by "-", once each. Others are left out."""
    found = (as_id(each) for each in (text or "").split("-"))
    return list(dict.fromkeys(pk for pk in found if pk is not None))


def page_in_series(pks: list[int]) -> str:
    """Return the address of the first of `pks` in their series."""
    filters = urlencode({PARAMETER: "-".join(map(str, pks))})
    url = reverse("admin:applications_application_change", args=[pks[0]])
    return f"{url}?{urlencode({'_changelist_filters': filters})}"


def invite_url(application: Application) -> str:
    """Return the page on which an interview with the applicant is planned."""
    return reverse("admin:applications_application_interview", args=[application.pk])

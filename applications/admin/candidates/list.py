"""The list of candidates: the newest application of each person that the user may see."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.views import ChangeList

from applications.admin.candidates.contact import last_contacts
from applications.admin.candidates.filters import FILTERS
from applications.admin.candidates.scope import (
    CandidatePages,
    may_see_candidates,
    own_applications,
)
from applications.admin.list.change_list import LIST_FIELDS, ApplicationChangeList
from applications.models import Application, ApplicationTag, Candidate
from applications.querysets import ApplicationQuerySet
from applications.same_person import KEYS, groups, newest_of_each
from applications.search import matching
from jobsite.admin.base import JobsiteAdmin
from jobsite.text.formats import format_date
from jobsite.types import UserRequest

COMPARED = 5_000  # hits of a search, of which the best come first


class CandidateChangeList(ApplicationChangeList):
    @cached_property
    def newest(self) -> list[int]:
        # a queryset that is asked whether it is true loads its rows
        found = (getattr(each, "left_out", None) for each in self.filter_specs)
        left_out = next((rows for rows in found if rows is not None), None)
        return newest_of_each(self.queryset, self.root_queryset, left_out)

    def hits(self) -> list[int] | None:
        """Search once: `newest` has done it."""
        if len(self.newest) > COMPARED:
            return None
        rows = self.root_queryset.filter(pk__in=self.newest).order_by()
        return [each[-1] for each in sorted(self.scored(rows), reverse=True)]

    def pages(self, request: UserRequest) -> Paginator:
        return Paginator(self.newest, self.list_per_page)

    def rows_of(self, request: UserRequest, pks: list[int]) -> list[Application]:
        """Return the newest application of each person, with what is known of all of theirs."""
        own = own_applications(request.user).only(*LIST_FIELDS, *KEYS, "person")
        found = own.in_bulk(pks)
        shown = [found[pk] for pk in pks if pk in found]
        people = groups(own.select_related("user", "vacancy").with_stage(), shown)
        ids = {each.pk for group in people.values() for each in group}
        contacts = last_contacts(ids, at=timezone.now())
        links = ApplicationTag.objects.filter(application__in=ids).order_by("tag__folded")
        tags: dict[int, list[str]] = {}
        for pk, name in links.values_list("application", "tag__name"):
            tags.setdefault(pk, []).append(name)
        rows = []
        for group in filter(None, people.values()):
            newest: Any = group[0]
            newest.applications = len(group)
            newest.contact_at = max(contacts.get(each.pk, each.created_at) for each in group)
            names = (name for each in group for name in tags.get(each.pk, ()))
            newest.tag_names = list(dict.fromkeys(names))
            rows.append(newest)
        return rows

    def url_of(self, row: Application) -> str:
        return reverse("admin:applications_application_candidate", args=[row.pk])


class CandidateAdmin(JobsiteAdmin):
    """The columns, filters and search of the list. A candidate is no row, so it is not
    registered.
    """

    change_list_template = "admin/applications/application/change_list.html"
    list_display = ("applicant_name", "newest", "applications", "last_contact", "tags")
    list_filter = FILTERS
    list_filter_submit = True
    list_per_page = 25
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    ordering = ("-created_at", "-pk")
    search_fields = ("reference",)  # shows the search box; see `find`
    search_help_text = _("Search names, e-mail addresses, references, vacancies and tags.")
    actions = None

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return own_applications(request.user)

    def get_changelist(self, request: UserRequest, **kwargs: object) -> type[ChangeList]:
        return CandidateChangeList

    def has_view_permission(self, request: UserRequest, obj: object = None) -> bool:
        return may_see_candidates(request)

    def has_add_permission(self, request: UserRequest, obj: object = None) -> bool:
        return False

    def find(
        self, request: UserRequest, queryset: ApplicationQuerySet, search_term: str
    ) -> tuple[ApplicationQuerySet, bool]:
        return matching(queryset, search_term, tags=True) if search_term else queryset, False

    @display(description=_("Candidate"))
    def applicant_name(self, row: Application) -> str:
        return row.display_name

    @display(description=_("Newest application"))
    def newest(self, row: Application) -> str:
        stage = row.stage_label
        if not stage:
            return row.vacancy.title
        return format_html('{} <span class="panel-state">{}</span>', row.vacancy.title, stage)

    @display(description=_("Applications"))
    def applications(self, row: Any) -> int:
        return int(row.applications)

    @display(description=_("Last contact"))
    def last_contact(self, row: Any) -> str:
        return format_date(timezone.localdate(row.contact_at))

    @display(description=_("Tags"))
    def tags(self, row: Any) -> str:
        names = ((name,) for name in row.tag_names)
        return format_html_join(" ", '<span class="panel-state">{}</span>', names) or "-"


class CandidateListPage(CandidatePages):
    def urls(self) -> list[URLPattern]:
        view = self.admin.admin_site.admin_view(self.list_view)
        return [path("candidates/", view, name="applications_candidate_changelist")]

    def list_view(self, request: UserRequest) -> HttpResponse:
        if not may_see_candidates(request):
            raise PermissionDenied
        return CandidateAdmin(Candidate, self.admin.admin_site).changelist_view(request)

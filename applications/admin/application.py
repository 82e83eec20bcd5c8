"""The admin of applications: the list, and what its pages are."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe
from unfold.admin import checkbox
from unfold.decorators import display
from unfold.views import ChangeList

from applications.access import sees_whole
from applications.admin.candidates.erasure import ErasurePages
from applications.admin.candidates.list import CandidateListPage
from applications.admin.candidates.page import PersonPages
from applications.admin.candidates.pool import PoolPages
from applications.admin.interviews.pages import InterviewPages
from applications.admin.interviews.slots import SlotPages
from applications.admin.interviews.tasks import TaskPages
from applications.admin.list.adding import ADD, AddingPage
from applications.admin.list.board import BoardPages
from applications.admin.list.bulk_actions import ACTIONS
from applications.admin.list.bulk_email import BulkEmailPages
from applications.admin.list.change_list import ApplicationChangeList
from applications.admin.list.filters import FILTERS, JUDGED_FILTERS
from applications.admin.list.saved_views import ApplicationViews
from applications.admin.moves.pages import MovePages
from applications.admin.page.assigning import AssigningPages
from applications.admin.page.considering import ConsideringPages
from applications.admin.page.emails import EmailPages
from applications.admin.page.files import FilePages
from applications.admin.page.notes import NotePages
from applications.admin.page.origins import OriginPages
from applications.admin.page.page import ApplicationPage
from applications.admin.page.scorecards import ScorecardPages
from applications.admin.page.walking import WalkPages
from applications.admin.parts import WRITE
from applications.admin.scoped import ScopedAdmin
from applications.admin.team.member import MemberPage
from applications.admin.team.yours import YoursPages
from applications.models import Access, Application, HistoryEntry
from applications.operations.access_log import log_access
from applications.querysets import ApplicationQuerySet
from applications.search import matching
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest

# Of who only judges (applications/access.py).
JUDGED_COLUMNS = (
    "applicant_name",
    "to_vacancy",
    "visible_stage",
    "applied",
    "next_step",
    "files",
)


@admin.register(Application)
class ApplicationAdmin(ScopedAdmin):
    """The list of applications. The other pages are those of `page_classes`."""

    application = ""

    page_classes = (
        FilePages,
        YoursPages,
        BoardPages,
        MovePages,
        BulkEmailPages,
        ApplicationViews,
        WalkPages,
        NotePages,
        EmailPages,
        ErasurePages,
        ApplicationPage,
        OriginPages,
        ConsideringPages,
        ScorecardPages,
        AssigningPages,
        InterviewPages,
        SlotPages,
        TaskPages,
        PersonPages,
        PoolPages,
        CandidateListPage,
    )

    list_display = (
        "applicant_name",
        "to_vacancy",
        "visible_stage",
        "applied",
        "next_step",
        "stars",
        "marks",
        "files",
    )
    list_filter = FILTERS
    list_filter_submit = True
    list_per_page = 25
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # counts of every filter would take seconds
    ordering = ("-created_at", "-pk")
    search_fields = ("reference",)  # shows the search box; see get_search_results
    list_before_template = "admin/applications/application/list/list_before.html"
    list_links_template = "admin/applications/application/list/list_links.html"
    search_help_text = _("Search names, e-mail addresses, references, vacancies and tags.")

    def get_queryset(self, request: UserRequest) -> QuerySet:
        coming = HistoryEntry.objects.filter(planned_at__gte=timezone.now(), is_cancelled=False)
        planned = coming.filter(application=OuterRef("pk"))
        next_at = Subquery(planned.order_by("planned_at").values("planned_at")[:1])
        rows: Any = super().get_queryset(request)
        return rows.with_stage().annotate(next_at=next_at)

    def get_list_display(self, request: UserRequest) -> Any:
        return self.list_display if sees_whole(request.user) else JUDGED_COLUMNS

    def get_list_filter(self, request: UserRequest) -> Any:
        return self.list_filter if sees_whole(request.user) else JUDGED_FILTERS

    def changelist_view(
        self, request: UserRequest, extra_context: Context | None = None
    ) -> HttpResponse:
        may = self.has_view_permission(request) and sees_whole(request.user)
        context = ApplicationViews(self).context(request) if may else {}
        return super().changelist_view(request, context | (extra_context or {}))

    def get_changelist(self, request: UserRequest, **kwargs: object) -> type[ChangeList]:
        return ApplicationChangeList

    def lookup_allowed(self, lookup: str, value: str, request: UserRequest) -> bool:
        """Allow the links that filter by a vacancy, beside the filters."""
        return lookup == "vacancy__id__exact" or super().lookup_allowed(lookup, value, request)

    def find(
        self, request: UserRequest, queryset: ApplicationQuerySet, search_term: str
    ) -> tuple[ApplicationQuerySet, bool]:
        if not search_term:
            return queryset, False
        return matching(queryset, search_term, tags=sees_whole(request.user)), False

    # --- adding ---

    def has_add_permission(self, request: UserRequest, obj: Application | None = None) -> bool:
        return request.user.has_perm(ADD)

    def add_view(self, request: UserRequest, *args: object, **kwargs: object) -> HttpResponse:
        return AddingPage(self).add_view(request)

    # --- columns ---

    @display(description=checkbox.render("action_toggle_all", 1))
    def action_checkbox(self, application: Application) -> str:
        """Unfold's checkbox, named after the applicant, and without a template per row."""
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="{}" aria-label="{}">',
            ACTION_CHECKBOX_NAME,
            application.pk,
            checkbox.attrs["class"],
            gettext("Select %(name)s") % {"name": application.display_name},
        )

    @display(description=_("Applicant"))
    def applicant_name(self, application: Application) -> str:
        """Mark new applications by a word and by weight, not only by colour."""
        if application.read_at:
            return application.display_name
        return format_html(
            '<b>{}</b> <span class="panel-state is-new">{}</span>',
            application.display_name,
            gettext("New"),
        )

    @display(description=_("Vacancy"))
    def to_vacancy(self, application: Application) -> str:
        """Return a link that filters the list by the vacancy."""
        return format_html(
            '<a class="text-link" href="?vacancy__id__exact={}">{}</a>',
            application.vacancy_id,
            application.vacancy.title,
        )

    @display(description=_("Applied"), ordering="created_at")
    def applied(self, application: Application) -> str:
        return format_datetime(application.created_at)

    @display(description=_("Stage"), ordering="stage_name")
    def visible_stage(self, application: Application) -> str:
        """Without a template per row."""
        return format_html('<span class="panel-state">{}</span>', application.stage_label or "-")

    @display(description=_("Next interview or task"), ordering="next_at")
    def next_step(self, application: Any) -> str:
        return format_datetime(application.next_at) if application.next_at else "-"

    @display(description=_("Rating"), ordering="rating")
    def stars(self, application: Application) -> str:
        return f"{application.rating}/5" if application.rating else "-"

    @display(description=_("Marks"))
    def marks(self, application: Application) -> str:
        marks = {
            "repeated": application.is_repeated,
            "withdrawn": application.withdrawn_at is not None,
        }
        labels = {"repeated": gettext("Applied again"), "withdrawn": gettext("Withdrawn")}
        shown = ((name, labels[name]) for name, applies in marks.items() if applies)
        return format_html_join(" ", '<span class="panel-state is-{}">{}</span>', shown) or "-"

    @display(description=_("Files"))
    def files(self, application: Any) -> int | str:
        return application.file_count or "-"

    # --- actions ---

    actions = ACTIONS

    def get_actions(
        self, request: UserRequest, *args: Any, action_location: Any = None, **kwargs: Any
    ) -> Any:
        """Add an action per stage. Django 6.1 passes `action_location`."""
        if not sees_whole(request.user):
            return {}
        where = {} if action_location is None else {"action_location": action_location}
        others = super().get_actions(request, *args, **where, **kwargs)
        is_list = action_location is None or action_location.name == "CHANGE_LIST"
        may = is_list and self.has_change_permission(request)
        return MovePages(self).actions(request) | others if may else others

    def has_email_permission(self, request: UserRequest) -> bool:
        return request.user.has_perm(WRITE)

    def has_export_permission(self, request: UserRequest) -> bool:
        return request.user.has_perm("applications.export_application")

    # --- the page of one ---

    class Media:
        css = {"all": ("applications/application.css",)}
        js = ("applications/application.js", "applications/reader.js", "applications/walking.js")

    @method_decorator(require_safe)
    def change_view(self, request: UserRequest, object_id: str, **kwargs: object) -> HttpResponse:
        if not sees_whole(request.user):
            return MemberPage(self).view(request, object_id)
        application = self.get_object(request, object_id)
        if not self.has_view_permission(request, application):
            raise PermissionDenied
        if application is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        return ApplicationPage(self).view(request, application)

    def history_view(self, request: UserRequest, object_id: str, **kwargs: object) -> HttpResponse:
        if not sees_whole(request.user):
            raise Http404  # it names ratings and emails
        response = super().history_view(request, object_id, **kwargs)
        if response.status_code == 200:
            log_access(request.user, Access.VIEW, int(object_id))
            name = response.context_data["object"].display_name
            response.context_data["title"] = gettext("History of %(name)s") % {"name": name}
        return response

    def has_delete_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        """Applicants are erased with all their data (ErasurePages), not row by row."""
        return False

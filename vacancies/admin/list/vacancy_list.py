"""The list of vacancies: its columns, its search, and its pages. Each user chooses columns; a saved
view can bring its own.
"""

from django.contrib import messages
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import F, Prefetch
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.views import ChangeList

from jobsite.admin.base import as_id
from jobsite.languages import text_languages
from jobsite.text.formats import format_datetime, zoned
from jobsite.types import Context, UserRequest
from vacancies.admin.base import ContentAdmin
from vacancies.admin.list.change_list import LIST_FIELDS, VIEW_VAR, VacancyChangeList
from vacancies.admin.list.editing import ListEditing
from vacancies.admin.list.saved_view_pages import ALL
from vacancies.admin.list.saved_views import SavedViews
from vacancies.choices import Audience
from vacancies.dates import closing_date_of
from vacancies.models import Requisition, TextState, Vacancy, VacancyText
from vacancies.querysets import VacancyQuerySet
from vacancies.search.rows import matching

DEFAULT_COLUMNS = ("state", "brand", "audience", "hot", "appears", "last_day")
LANGUAGES = "languages"  # only if the texts may have several
COLUMNS = (
    *DEFAULT_COLUMNS,
    "recruiter",
    "location",
    "work_place",
    "reference",
    LANGUAGES,
    "changed",
)
TITLE = "title"  # always the first column


class VacancyListAdmin(ContentAdmin):
    """The list. Methods of columns return the content of a cell as HTML without a template: a page
    has hundreds of cells.
    """

    list_columns: tuple[str, ...] = COLUMNS
    default_columns: tuple[str, ...] = DEFAULT_COLUMNS
    list_before_template = "admin/vacancies/vacancy/list/list_before.html"
    list_links_template = "admin/vacancies/vacancy/list/list_links.html"
    list_after_template = "admin/vacancies/vacancy/list/list_after.html"

    def changelist_view(
        self, request: UserRequest, extra_context: Context | None = None
    ) -> HttpResponse | None:
        """Filters of a saved view that are no longer valid give a message."""
        views, editing = SavedViews(self, request), ListEditing(self, request)
        if response := editing.save() or views.redirect():
            return response
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = (
            views.context()
            | editing.context()
            | {
                "may_import": self.has_add_permission(request)
                or self.has_change_permission(request),
                "query": request.GET.urlencode(),
            }
            | (extra_context or {})
        )
        view = views.view if request.method == "GET" and PAGE_VAR not in request.GET else None
        try:
            response = super().changelist_view(request, context)
        except SuspiciousOperation:
            if not view:
                raise
            response = None
        if view and (response is None or response.get("Location", "").endswith(f"?{ERROR_FLAG}=1")):
            text = _(
                "The filters of the view “%(view)s” are no longer valid. All vacancies are shown."
            )
            self.message_user(request, text % {"view": view}, messages.WARNING)
            return redirect(f"{request.path}?{VIEW_VAR}={ALL}")
        if changelist := (getattr(response, "context_data", None) or {}).get("cl"):
            changelist.row_forms = editing.forms(changelist.result_list)
        return response

    def get_changelist(self, request: UserRequest, **kwargs: object) -> type[ChangeList]:
        return VacancyChangeList

    def get_list_display(self, request: UserRequest) -> tuple[str, ...]:
        return SavedViews(self, request).columns

    def get_sortable_by(self, request: UserRequest) -> tuple[str, ...]:
        return (TITLE, *self.list_columns)

    def lookup_allowed(self, lookup: str, value: object, request: UserRequest) -> bool:
        """Allow the links from the changelists of forms and brands, beside the
        filters of the page.
        """
        own = {"form__id__exact", *(each.parameter_name for each in self.get_list_filter(request))}
        return lookup in own or super().lookup_allowed(lookup, value, request)

    def find(
        self, request: UserRequest, queryset: VacancyQuerySet, search_term: str
    ) -> tuple[VacancyQuerySet, bool]:
        if not search_term:
            return queryset, False
        found = matching(queryset, search_term)
        if (pk := as_id(search_term)) is not None:
            found |= queryset.filter(pk=pk)
        return found, False

    def rows_of_page(self, vacancies: VacancyQuerySet) -> VacancyQuerySet:
        """Return what the columns show of the `vacancies` of one page."""
        rows = vacancies.select_related("brand", "head_recruiter", "requisition")
        if not text_languages():
            return rows.only(*LIST_FIELDS)
        texts = VacancyText.objects.defer("texts").order_by("language")
        rows = rows.prefetch_related(Prefetch("translations", texts))
        return rows.only(*LIST_FIELDS, "language")

    def people_url(self, request: UserRequest, vacancy: Vacancy) -> str:
        """Return the page with the applicants of a row of `rows_of_page`, "" without any."""
        return ""

    # --- columns ---

    def offered_columns(self, request: UserRequest) -> tuple[str, ...]:
        """Return the names of the columns that the user may choose, in their usual order."""
        return tuple(name for name in self.list_columns if text_languages() or name != LANGUAGES)

    def column_label(self, name: str) -> str:
        if name == "brand":
            return _("Brand")
        return str(getattr(getattr(self, name), "short_description", name))

    @display(description=gettext_lazy("Status"), ordering="status")
    def state(self, vacancy: Vacancy) -> str:
        return format_html(
            '<span class="panel-state is-{}">{}</span>{}',
            vacancy.state.value,
            vacancy.state.label,
            format_html(' <span class="panel-state is-filled">{}</span>', _("Filled"))
            if Requisition.of(vacancy).filled_at
            else "",
        )

    @display(description=gettext_lazy("Audience"), ordering="audience")
    def audience(self, vacancy: Vacancy) -> str:
        return str(Audience(vacancy.audience).label)

    @display(
        description=gettext_lazy("Closing date"), ordering=F("publish_until").asc(nulls_last=True)
    )
    def last_day(self, vacancy: Vacancy) -> str:
        return zoned(closing_date_of(vacancy)) if vacancy.publish_until else "-"

    @display(
        description=gettext_lazy("Publish from"), ordering=F("publish_from").asc(nulls_last=True)
    )
    def appears(self, vacancy: Vacancy) -> str:
        return zoned(format_datetime(vacancy.publish_from)) if vacancy.publish_from else "-"

    @display(description=gettext_lazy("Featured"), ordering="is_hot")
    def hot(self, vacancy: Vacancy) -> str:
        return (
            format_html('<span class="panel-state is-expired">{}</span>', _("Featured"))
            if vacancy.is_hot
            else "-"
        )

    @display(description=gettext_lazy("Lead recruiter"), ordering="head_recruiter__name")
    def recruiter(self, vacancy: Vacancy) -> str:
        return str(vacancy.head_recruiter or "-")

    @display(description=gettext_lazy("Location"), ordering="location")
    def location(self, vacancy: Vacancy) -> str:
        return vacancy.location or "-"

    @display(description=gettext_lazy("Work place"), ordering="work_place")
    def work_place(self, vacancy: Vacancy) -> str:
        return vacancy.get_work_place_display() or "-"

    @display(description=gettext_lazy("Reference"), ordering="reference")
    def reference(self, vacancy: Vacancy) -> str:
        return vacancy.reference or "-"

    @display(description=gettext_lazy("Languages"))
    def languages(self, vacancy: Vacancy) -> str:
        shown = [(vacancy.shown_language, "✓", TextState.READY.label)]
        for text in vacancy.translations.all():
            sign, state = "✎", TextState.UNFINISHED.label
            if text.is_ready:
                sign, state = "✓", TextState.READY.label
            if text.language in text_languages():
                shown.append((text.language, sign, state))
        return format_html_join(
            " ", '{} <span title="{}">{}</span>', ((a, c, b) for a, b, c in shown)
        )

    @display(description=gettext_lazy("Last change"), ordering="updated_at")
    def changed(self, vacancy: Vacancy) -> str:
        return format_datetime(vacancy.updated_at)

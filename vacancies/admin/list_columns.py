"""The columns of the list of vacancies. Each user chooses some; a saved view can bring its own."""

from typing import Any

from django.db.models import F
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from jobsite.admin.base import JobsiteAdmin
from jobsite.text.formats import format_datetime, zoned
from vacancies.admin.base import closing_date_of
from vacancies.models import Vacancy

DEFAULT_COLUMNS = ("state", "brand", "audience", "hot", "appears", "last_day")
COLUMNS = (*DEFAULT_COLUMNS, "recruiter", "location", "changed")
TITLE = "title"  # always the first column
EDITED_COLUMNS = ("last_day", "hot")  # shown while the list is edited


class ListColumnsAdmin(JobsiteAdmin):
    """Methods that return the content of a cell as HTML without a template: a page has hundreds of cells."""

    list_columns: tuple[str, ...] = COLUMNS
    default_columns: tuple[str, ...] = DEFAULT_COLUMNS

    def offered_columns(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the names of the columns that the user may choose, in their usual order."""
        return self.list_columns

    def shown_columns(self, request: HttpRequest, chosen: Any) -> tuple[str, ...]:
        """Return those of the names `chosen` that exist, in this order; without any, the default columns."""
        offered = self.offered_columns(request)
        names = [name for name in chosen if name in offered] if isinstance(chosen, list) else []
        return tuple(dict.fromkeys(names)) or tuple(n for n in self.default_columns if n in offered)

    def column_label(self, name: str) -> str:
        if name == "brand":
            return _("Brand")
        return str(getattr(getattr(self, name), "short_description", name))

    @display(description=gettext_lazy("Status"), ordering="status")
    def state(self, vacancy: Vacancy) -> str:
        return format_html(
            '<span class="panel-state is-{}">{}</span>', vacancy.state.value, vacancy.state.label
        )

    @display(description=gettext_lazy("Audience"), ordering="audience")
    def audience(self, vacancy: Vacancy) -> str:
        return vacancy.get_audience_display()

    @display(description=gettext_lazy("Closing date"), ordering=F("publish_until").asc(nulls_last=True))
    def last_day(self, vacancy: Vacancy) -> str:
        return zoned(closing_date_of(vacancy)) if vacancy.publish_until else "-"

    @display(description=gettext_lazy("Publish from"), ordering=F("publish_from").asc(nulls_last=True))
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

    @display(description=gettext_lazy("Last change"), ordering="updated_at")
    def changed(self, vacancy: Vacancy) -> str:
        return format_datetime(vacancy.updated_at)

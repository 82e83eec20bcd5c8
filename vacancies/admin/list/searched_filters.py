"""Filters of the list of vacancies by rows that are found by typing: options and recruiters. There
can be thousands, so the page contains only the chosen ones. Django's view for autocomplete fields
searches them.
"""

from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin import ListFilter
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.contrib.filters.forms import AutocompleteDropdownForm

from jobsite.admin.base import as_id
from jobsite.types import UserRequest
from vacancies.models import FilterOption, Recruiter, Vacancy, VacancyOption
from vacancies.querysets import VacancyQuerySet

MAX_VALUES = 50  # values of a filter


class SearchedFilter(ListFilter):
    """By rows whose ids are in the repeated parameter `parameter_name`. Ids of rows that no longer
    exist find nothing: to ignore them would show vacancies that the filter leaves out.
    """

    parameter_name: ClassVar[str]
    field_name: ClassVar[str]  # of the vacancy, which refers to the rows
    all_rows: ClassVar[QuerySet]  # with what their labels need
    template = "unfold/filters/filters_field.html"
    form_class = AutocompleteDropdownForm

    def __init__(
        self,
        request: UserRequest,
        params: dict[str, list[str]],
        model: type[Model],
        model_admin: Any,
    ) -> None:
        super().__init__(request, params, model, model_admin)
        self.request = request
        self.page = model_admin.admin_site.get_model_admin(self.all_rows.model)
        sent = [value for value in params.pop(self.parameter_name, []) if value]
        self.pks = list(
            dict.fromkeys(pk for value in sent[:MAX_VALUES] if (pk := as_id(value)) is not None)
        )
        self.rows = list(self.all_rows.filter(pk__in=self.pks)) if self.pks else []
        self.is_valid = len(self.rows) == len(set(sent))
        if self.rows:
            self.used_parameters[self.parameter_name] = [str(row.pk) for row in self.rows]
        if not self.is_valid and request.method == "GET":
            text = _(
                "The filter “%(filter)s” asks for something that no longer exists. Choose again."
            )
            messages.warning(request, text % {"filter": self.title})

    def having(self, vacancies: VacancyQuerySet) -> VacancyQuerySet:
        """Return the `vacancies` that have `self.rows`."""
        raise NotImplementedError

    def has_output(self) -> bool:
        return bool(self.page.has_view_permission(self.request))

    def expected_parameters(self) -> list[str]:
        return [self.parameter_name]

    def queryset(self, request: UserRequest, queryset: VacancyQuerySet) -> VacancyQuerySet:
        if not self.is_valid:
            return queryset.none()
        return self.having(queryset) if self.rows else queryset

    def labels(self) -> list[str]:
        """Return the chosen rows, for the list of active filters."""
        return [self.page.choice_label(row) for row in self.rows]

    def choices(self, changelist: Any) -> Any:
        form = self.form_class(
            request=self.request,
            name=self.parameter_name,
            label=_("By %(filter)s") % {"filter": self.title},
            choices=(),
            field=Vacancy._meta.get_field(self.field_name),
            model_admin=self.page,
            multiple=True,
            data={self.parameter_name: [str(row.pk) for row in self.rows]},
        )
        field: Any = form.fields[self.parameter_name]
        field.queryset = self.all_rows
        field.label_from_instance = self.page.choice_label
        yield {"form": form}


class OptionFilter(SearchedFilter):
    """By options: any of those of one filter, and all filters ("Antwerp or Ghent", and
    "Full-time").
    """

    title = gettext_lazy("option")
    parameter_name = "option"
    field_name = "options"
    all_rows = FilterOption.objects.select_related("filter")

    def having(self, vacancies: VacancyQuerySet) -> VacancyQuerySet:
        by_filter: dict[int, list[int]] = {}
        for option in self.rows:
            by_filter.setdefault(option.filter_id, []).append(option.pk)
        for pks in by_filter.values():
            vacancies = vacancies.filter(
                Exists(VacancyOption.objects.filter(vacancy=OuterRef("pk"), option__in=pks))
            )
        return vacancies


class RecruiterFilter(SearchedFilter):
    """By any of the chosen recruiters, as lead recruiter or otherwise."""

    title = gettext_lazy("recruiter")
    parameter_name = "recruiter"
    field_name = "head_recruiter"
    all_rows = Recruiter.objects.only("name")

    def having(self, vacancies: VacancyQuerySet) -> VacancyQuerySet:
        return vacancies.of_recruiters([row.pk for row in self.rows])

"""Filters of the list of vacancies by rows that are found by typing: options and recruiters. There can be
thousands, so the page contains only the chosen ones."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin import ListFilter
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.contrib.filters.forms import AutocompleteDropdownForm

from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from vacancies.models import FilterOption, Recruiter, VacancyOption
from vacancies.querysets import VacancyQuerySet

FOUND = 20  # rows in an answer of the search
CHOSEN = 50  # values of a filter


def url_name(name: str) -> str:
    return f"vacancies_vacancy_filter_{name}s"


class SearchedForm(forms.Form):
    """The select of a filter, with the chosen rows only."""

    Media = AutocompleteDropdownForm.Media  # Select2


class SearchedFilter(ListFilter):
    """By rows whose ids are in the repeated parameter `parameter_name`. Ids of rows that no longer exist find
    nothing: to ignore them would show vacancies that the filter leaves out."""

    parameter_name: ClassVar[str]
    permission: ClassVar[str]
    template = "unfold/filters/filters_field.html"
    form_class = SearchedForm

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        self.request = request
        sent = [value for value in params.pop(self.parameter_name, []) if value]
        self.pks = list(dict.fromkeys(pk for value in sent[:CHOSEN] if (pk := as_id(value)) is not None))
        self.rows = list(self.named().filter(pk__in=self.pks)) if self.pks else []
        self.is_valid = len(self.rows) == len(set(sent))
        if self.rows:
            self.used_parameters[self.parameter_name] = [str(row.pk) for row in self.rows]
        if not self.is_valid and request.method == "GET":
            text = _("The filter “%(filter)s” asks for something that no longer exists. Choose again.")
            messages.warning(request, text % {"filter": self.title})

    @classmethod
    def named(cls) -> QuerySet:
        """Return all rows, with what `text` needs, in order."""
        raise NotImplementedError

    @classmethod
    def matching(cls, word: str) -> Q:
        raise NotImplementedError

    @staticmethod
    def text(row: Any) -> str:
        raise NotImplementedError

    def having(self, vacancies: VacancyQuerySet) -> VacancyQuerySet:
        """Return the `vacancies` that have `self.rows`."""
        raise NotImplementedError

    def has_output(self) -> bool:
        return bool(self.request.user.has_perm(self.permission))

    def expected_parameters(self) -> list[str]:
        return [self.parameter_name]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        if not self.is_valid:
            return queryset.none()
        return self.having(queryset) if self.rows else queryset

    def choices(self, changelist: Any) -> Any:
        form = self.form_class(data={self.parameter_name: [str(row.pk) for row in self.rows]})
        form.fields[self.parameter_name] = forms.MultipleChoiceField(
            label=_("By %(filter)s") % {"filter": self.title},
            choices=[(str(row.pk), self.text(row)) for row in self.rows],
            required=False,
            widget=forms.SelectMultiple(
                attrs={
                    "class": "unfold-filter-autocomplete",
                    "data-theme": "admin-autocomplete",
                    "data-ajax--url": reverse(f"admin:{url_name(self.parameter_name)}"),
                    "data-ajax--delay": "250",
                    "data-ajax--cache": "true",
                }
            ),
        )
        yield {"form": form}


class OptionFilter(SearchedFilter):
    """By options: any of those of one filter, and all filters ("Antwerp or Ghent", and "Full-time")."""

    title = gettext_lazy("option")
    parameter_name = "option"
    permission = "vacancies.view_filteroption"

    @classmethod
    def named(cls) -> QuerySet:
        return FilterOption.objects.select_related("filter").order_by(
            "filter__position", "filter", "position", "label", "pk"
        )

    @classmethod
    def matching(cls, word: str) -> Q:
        return Q(label__icontains=word) | Q(filter__label__icontains=word)

    @staticmethod
    def text(row: FilterOption) -> str:
        return f"{row.filter.label}: {row.label}"

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
    permission = "vacancies.view_recruiter"

    @classmethod
    def named(cls) -> QuerySet:
        return Recruiter.objects.only("name").order_by("name", "pk")

    @classmethod
    def matching(cls, word: str) -> Q:
        return Q(name__icontains=word)

    @staticmethod
    def text(row: Recruiter) -> str:
        return row.name

    def having(self, vacancies: VacancyQuerySet) -> VacancyQuerySet:
        return vacancies.of_recruiters([row.pk for row in self.rows])


FILTERS: dict[str, type[SearchedFilter]] = {
    each.parameter_name: each for each in (OptionFilter, RecruiterFilter)
}


class FilterSearchPages(AdminPages):
    """Serves the search of these filters."""

    def urls(self) -> list[URLPattern]:
        view = self.filter_rows_view
        return [self.url(f"filter-{name}s/", view, f"filter_{name}s", name=name) for name in FILTERS]

    def filter_rows_view(self, request: HttpRequest, name: str) -> JsonResponse:
        """`term`, `page` -> the rows with every word of `term`, in the format of Select2."""
        of = FILTERS[name]
        if not (self.admin.has_view_permission(request) and request.user.has_perm(of.permission)):
            raise PermissionDenied
        rows = of.named()
        for word in request.GET.get("term", "").replace("\0", "").split()[:10]:
            rows = rows.filter(of.matching(word.rstrip(":")))
        page = Paginator(rows, FOUND).get_page(request.GET.get("page"))
        found = [{"id": row.pk, "text": of.text(row)} for row in page]
        return JsonResponse({"results": found, "pagination": {"more": page.has_next()}})

"""Version v1 of the vacancy API (interface 2.2, 2.10, 4)."""

import re
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from forms_structure.api import schema as forms_schema
from forms_structure.api import v1 as forms_v1
from forms_structure.exchange import digest
from forms_structure.schema import submission_schema
from jobsite.api import parameters
from jobsite.api.absolute_urls import absolute
from jobsite.api.filters import FilterBackend
from jobsite.api.openapi import OPTIONAL_CREDENTIALS, PAGING, documented, example, operation
from jobsite.api.pagination import Unpaged
from jobsite.api.permissions import InternalAccess, is_insider, is_protected
from jobsite.api.serializers import AddressField, ItemSerializer, SharedItemSerializer, TextField
from jobsite.api.viewsets import ReadOnlyViewSet
from vacancies.api import schema
from vacancies.api.lists import ListViewSet
from vacancies.api.serializers import (
    AttachmentSerializer,
    BrandSerializer,
    LabelField,
    LabelsField,
    LabelsOrNullField,
    VacancyItemSerializer,
)
from vacancies.choices import Keyword
from vacancies.filtersets import OPTION_NAMES, FacetFilterSet, VacancyFilterSet, filter_name
from vacancies.models import Audience, Filter, FilterOption, Recruiter, State, Vacancy
from vacancies.previews import opened_by
from vacancies.querysets import VacancyList, VacancyQuerySet

ID = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
NO_SUCH_VACANCY = "No published vacancy has this id."
NO_SUCH_PREVIEW = "This preview link is invalid or has expired."


@documented("Recruiter", "A recruiter, with public contact data only.", schema.RECRUITER)
class RecruiterSerializer(SharedItemSerializer):
    """Interface 2.6: contact data only if the recruiter's record marks it as public."""

    function = TextField()
    email = TextField(source="shown_email")
    phone = TextField(source="shown_phone")
    image = AddressField("image", "image_url")

    class Meta:
        model = Recruiter
        fields = ("id", "name", "function", "email", "phone", "image")


@documented("Vacancy", "A published vacancy.", schema.VACANCY)
class VacancySerializer(VacancyItemSerializer):
    """Interface 2.2; needs `Vacancy.objects.with_related()`."""

    title_internal = serializers.CharField(source="shown_title_internal", read_only=True)
    brand = BrandSerializer(source="shown_brand", read_only=True, required=False)
    functiongroup = LabelField(Keyword.FUNCTIONGROUP)
    types = LabelsOrNullField(Keyword.TYPES)
    contract_types = LabelsOrNullField(Keyword.CONTRACT_TYPES)
    work_regimes = LabelsOrNullField(Keyword.WORK_REGIMES)
    regions = LabelsField(Keyword.REGIONS)
    jobcustom1_values = LabelsField(Keyword.JOBCUSTOM1)
    jobcustom2_values = LabelsField(Keyword.JOBCUSTOM2)
    jobcustom3_values = LabelsField(Keyword.JOBCUSTOM3)
    jobcustom4_values = LabelsField(Keyword.JOBCUSTOM4)
    image = AddressField("image", "image_url")
    attachments = AttachmentSerializer(many=True, read_only=True, required=False)
    head_recruiter = RecruiterSerializer(read_only=True)
    recruiters = RecruiterSerializer(source="shown_recruiters", many=True, read_only=True)

    class Meta:
        model = Vacancy
        fields = (
            "id",
            "title",
            "title_internal",
            "slug",
            "brand",
            "is_hot",
            "is_permanent",
            "functiongroup",
            "types",
            "contract_types",
            "work_regimes",
            "regions",
            "jobcustom1_values",
            "jobcustom2_values",
            "jobcustom3_values",
            "jobcustom4_values",
            "location",
            "description",
            "short_description",
            "profile",
            "offer",
            "contact",
            "company",
            "postcustom1",
            "image",
            "video",
            "attachments",
            "head_recruiter",
            "recruiters",
            "updated_at",
            "created_at",
            "apply_url",
        )
        omit_absent = ("brand", "attachments")


_LIST_TAKES = (*PAGING, schema.SORT, schema.fields_parameter(VacancySerializer.Meta.fields), *schema.FACETS)


@extend_schema_view(
    list=operation(
        id="listVacancies",
        summary="List vacancies",
        description="Published public vacancies, newest first unless sorted otherwise.",
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=VacancySerializer(many=True),
        answer="A page of vacancies.",
        examples=schema.page_examples("/v1/vacancies", VacancySerializer.Meta.fields)
        | schema.sparse_examples("/v1/vacancies"),
    ),
    hot=operation(
        id="listHotVacancies",
        summary="List hot vacancies",
        description="Featured public vacancies.",
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=VacancySerializer(many=True),
        answer="A page of hot vacancies.",
        examples=schema.page_examples("/v1/vacancies/hot", VacancySerializer.Meta.fields, is_hot=True),
    ),
    internal=operation(
        id="listInternalVacancies",
        summary="List internal vacancies",
        description="Vacancies published for internal use, including those for both audiences, newest first "
        "unless sorted otherwise. " + schema.INTERNAL,
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=VacancySerializer(many=True),
        answer="A page of internal vacancies.",
        examples=schema.page_examples("/v1/vacancies/internal", VacancySerializer.Meta.fields),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(401, 403),
    ),
    hot_internal=operation(
        id="listHotInternalVacancies",
        summary="List hot internal vacancies",
        description="Hot vacancies published for internal use. " + schema.INTERNAL,
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=VacancySerializer(many=True),
        answer="A page of hot internal vacancies.",
        examples=schema.page_examples(
            "/v1/vacancies/hot/internal", VacancySerializer.Meta.fields, is_hot=True
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(401, 403),
    ),
)
class VacancyViewSet(ListViewSet):
    """Published vacancies, in version v1."""

    serializer_class = VacancySerializer
    filter_backends = [FilterBackend]
    filterset_class = VacancyFilterSet
    query_names = (*VacancyFilterSet.base_filters, "fields")
    list_names = OPTION_NAMES | {"fields"}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.only = None
        if "fields" in self.query:
            self.only = parameters.choices("fields", self.query["fields"], VacancySerializer.Meta.fields)

    def get_queryset(self) -> VacancyQuerySet:
        return self.listed().with_related(self.only)

    def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
        return super().get_serializer(*args, only=self.only, **kwargs)

    @action(detail=False, vacancy_list=VacancyList.HOT)
    def hot(self, request: Request) -> Response:
        return self.list(request)

    @action(detail=False, vacancy_list=VacancyList.INTERNAL, permission_classes=[InternalAccess])
    def internal(self, request: Request) -> Response:
        return self.list(request)

    @action(
        detail=False,
        url_path="hot/internal",
        vacancy_list=VacancyList.HOT_INTERNAL,
        permission_classes=[InternalAccess],
    )
    def hot_internal(self, request: Request) -> Response:
        return self.list(request)


def find_published(request: Request, pk: str, vacancies: VacancyQuerySet, *, at: datetime) -> Vacancy:
    """Return the vacancy `pk` if it is published at `at` and open to the client of `request`.

    A hidden one and an unknown one raise the same NotFound, after the same queries.
    """
    if not ID.fullmatch(pk):
        raise NotFound(NO_SUCH_VACANCY)
    published = vacancies.published(at=at).filter(pk=pk)
    found = list(published.external() if is_protected() else published)
    if not found and is_protected() and is_insider(request):
        found = list(published.internal())
    if not found:
        raise NotFound(NO_SUCH_VACANCY)
    return found[0]


@extend_schema_view(
    retrieve=operation(
        id="getVacancy",
        summary="Get one vacancy",
        description="One published vacancy, public or internal, with all its keys. Where internal vacancies "
        "are limited, they return 404 without permission.",
        tag="Vacancies",
        takes=(schema.ID, schema.PREVIEW),
        response=VacancySerializer,
        answer="The vacancy.",
        examples={"A vacancy": {"data": example(schema.VACANCY, VacancySerializer.Meta.fields)}},
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
    ),
    form=operation(
        id="getVacancyForm",
        summary="Get the application form of a vacancy",
        description="Sections, fields, options and conditional fields, for clients that may see the vacancy. "
        "The required consent is the last field of the last section. The header `Apply` is present if the "
        "vacancy accepts applications.",
        tag="Forms",
        takes=(schema.ID, schema.PREVIEW),
        response=forms_v1.SectionSerializer(many=True),
        answer="The sections of the form.",
        examples={"A form": {"data": [forms_schema.EXAMPLE]}},
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
        headers=("Form-Version", "Content-Language", "Apply"),
    ),
    form_schema=operation(
        id="getVacancyFormSchema",
        summary="Get the JSON Schema of a submission of that form",
        description="A JSON Schema (2020-12) of a valid submission, with conditions as if/then, and the "
        "version of the form. A submission is an object that maps the name of each completed field to its "
        'value: text, the value of an option, a list of values for a checkbox-group, "1" for a ticked '
        "checkbox, the name of a file. Hidden fields are omitted.",
        tag="Forms",
        takes=(schema.ID, schema.PREVIEW),
        response=forms_v1.FormSchemaSerializer,
        answer="The version of the form and the schema.",
        examples={"A schema": {"data": example(forms_schema.FORM_SCHEMA)}},
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
        headers=("Form-Version", "Content-Language"),
    ),
)
class SingleVacancyViewSet(ReadOnlyViewSet):
    """One published vacancy, public or internal, by its id, and its application form."""

    serializer_class = VacancySerializer
    pagination_class = None
    lookup_value_regex = "[^/]+"
    query_names = ("preview",)
    vacancy: Vacancy
    accepts_applications = False  # set by `served_form`

    def get_object(self, vacancies: VacancyQuerySet) -> Vacancy:
        """Return the vacancy in the path. A hidden one and an unknown one raise the same NotFound, after the
        same queries."""
        pk = self.kwargs["pk"]
        if "preview" in self.query and ID.fullmatch(pk):
            if opened_by(self.query["preview"]) == int(pk) and (found := list(vacancies.filter(pk=pk))):
                return found[0]
            raise NotFound(NO_SUCH_PREVIEW)
        return find_published(self.request, pk, vacancies, at=self.now)

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "preview": self.query.get("preview")}

    def retrieve(self, request: Request, pk: str) -> Response:
        self.vacancy = self.get_object(Vacancy.objects.with_related())
        return Response({"data": self.get_serializer(self.vacancy).data})

    def served_form(self) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Return the sections of the vacancy's form, and the headers with its version and language. Always
        three queries: the vacancy, the form with the form that it extends, the consent."""
        shown = Vacancy.objects.with_form().only(
            "audience", "status", "publish_from", "publish_until", "apply_url"
        )
        self.vacancy = self.get_object(shown)
        form = self.vacancy.served_form
        sections, language = forms_v1.serve(form)
        is_published = self.vacancy.state_at(self.now) == State.PUBLISHED  # not so with a preview
        self.accepts_applications = is_published and self.vacancy.accepts_applications(form)
        return sections, {"Form-Version": digest(sections), "Content-Language": language}

    @action(detail=True)
    def form(self, request: Request, pk: str) -> Response:
        sections, headers = self.served_form()
        if self.accepts_applications:
            headers["Apply"] = absolute(request, request.path.removesuffix("form") + "applications")
        return Response({"data": sections}, headers=headers)

    @action(detail=True, url_path="form/schema")
    def form_schema(self, request: Request, pk: str) -> Response:
        sections, headers = self.served_form()
        rules = submission_schema(sections, address=absolute(request, request.path))
        return Response({"data": {"version": headers["Form-Version"], "schema": rules}}, headers=headers)

    def next_change(self) -> datetime | None:
        return self.vacancy.publish_until

    def is_private(self) -> bool:
        is_internal = is_protected() and self.vacancy.audience == Audience.INTERNAL
        return is_internal or "preview" in self.query

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if "preview" in request.query_params:
            response["X-Robots-Tag"] = "noindex"
        return response


@documented("FilterOption", "An option of a filter, with the number of its vacancies.", schema.OPTION)
class OptionSerializer(ItemSerializer):
    """An option of a filter, with the number of its vacancies."""

    count = serializers.IntegerField(read_only=True, min_value=1)

    class Meta:
        model = FilterOption
        fields = ("value", "label", "count")


@documented("Filter", "A filter in use and its options in use.", schema.FILTER)
class FilterSerializer(ItemSerializer):
    """Interface 2.10, docs/decisions.md #20."""

    options = OptionSerializer(many=True, read_only=True, source="counted_options")

    class Meta:
        model = Filter
        fields = ("id", "label", "keyword", "options")


@extend_schema_view(
    list=operation(
        id="listFilters",
        summary="List filters",
        description="Filters and options in use, with the number of public vacancies of each option. "
        "With `filter[...]`, the numbers of a filter's options are those under all the other filters.",
        tag="Filters",
        takes=schema.FACETS,
        response=FilterSerializer(many=True),
        answer="All filters in use.",
        examples={"Filters": {"data": [example(schema.FILTER)]}},
    )
)
class FilterViewSet(ReadOnlyViewSet):
    """Active filters, with the number of public vacancies of each option."""

    serializer_class = FilterSerializer
    pagination_class = Unpaged
    query_names = tuple(FacetFilterSet.base_filters)
    list_names = OPTION_NAMES

    def get_queryset(self) -> list[Filter]:
        vacancies = Vacancy.objects.published(at=self.now).external()
        facets = FacetFilterSet(self.query, queryset=vacancies, request=self.request)
        facets.check()
        overrides = {
            keyword: facets.without(name)
            for keyword in Keyword
            if (name := filter_name(keyword)) in self.query
        }
        return Filter.objects.active().with_counted_options(facets.qs, overrides)

    def next_change(self) -> datetime | None:
        return Vacancy.objects.next_change(after=self.now)

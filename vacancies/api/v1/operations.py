"""The operations of version v1 in the OpenAPI document."""

from forms_structure.api import schema as forms_schema
from forms_structure.api import v1 as forms_v1
from jobsite.api.openapi import (
    OPTIONAL_CREDENTIALS,
    PAGING,
    Operation,
    SuccessResponse,
    example,
)
from vacancies.api import operation_parts, schema
from vacancies.api.v1.serializers import FilterSerializer, VacancySerializer

_LIST_TAKES = (
    *PAGING,
    operation_parts.SORT,
    operation_parts.fields_parameter(VacancySerializer.Meta.fields),
    *operation_parts.LANGUAGE,
    *operation_parts.FACETS,
)
LISTS = {
    "list": Operation(
        id="listVacancies",
        summary="List vacancies",
        description="Published public vacancies, newest first unless sorted otherwise.",
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of vacancies.",
            examples=operation_parts.page_examples("/v1/vacancies", VacancySerializer.Meta.fields)
            | operation_parts.sparse_examples("/v1/vacancies"),
            links=operation_parts.OF_LISTS,
        ),
    ),
    "hot": Operation(
        id="listHotVacancies",
        summary="List hot vacancies",
        description="Featured public vacancies.",
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of hot vacancies.",
            examples=operation_parts.page_examples(
                "/v1/vacancies/hot", VacancySerializer.Meta.fields, is_hot=True
            ),
            links=operation_parts.OF_LISTS,
        ),
    ),
    "internal": Operation(
        id="listInternalVacancies",
        summary="List internal vacancies",
        description="Vacancies published for internal use, including those for both audiences, "
        "newest first unless sorted otherwise. " + operation_parts.INTERNAL,
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of internal vacancies.",
            examples=operation_parts.page_examples(
                "/v1/vacancies/internal", VacancySerializer.Meta.fields
            ),
            links=operation_parts.OF_LISTS,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(401, 403),
    ),
    "hot_internal": Operation(
        id="listHotInternalVacancies",
        summary="List hot internal vacancies",
        description="Hot vacancies published for internal use. " + operation_parts.INTERNAL,
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of hot internal vacancies.",
            examples=operation_parts.page_examples(
                "/v1/vacancies/hot/internal", VacancySerializer.Meta.fields, is_hot=True
            ),
            links=operation_parts.OF_LISTS,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(401, 403),
    ),
}
ITEMS = {
    "retrieve": Operation(
        id="getVacancy",
        summary="Get one vacancy",
        description="One published vacancy, public or internal, with all its keys. Where internal "
        "vacancies are limited, they return 404 without permission.",
        tag="Vacancies",
        takes=(operation_parts.ID, operation_parts.PREVIEW, *operation_parts.LANGUAGE),
        response=SuccessResponse(
            serializer=VacancySerializer,
            description="The vacancy.",
            examples={
                "A vacancy": {"data": example(schema.VACANCY, VacancySerializer.Meta.fields)}
            },
            links=operation_parts.OF_VACANCIES,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
    ),
    "form": Operation(
        id="getVacancyForm",
        summary="Get the application form of a vacancy",
        description="Sections, fields, options and conditional fields, for clients that may see "
        "the vacancy. The required consent, that of the brand or the site, is the last field of "
        "the last section. The header `Apply` is present if the vacancy accepts applications.",
        tag="Forms",
        takes=(operation_parts.ID, operation_parts.PREVIEW, *operation_parts.LANGUAGE),
        response=SuccessResponse(
            serializer=forms_v1.SectionSerializer(many=True),
            description="The sections of the form.",
            examples={"A form": {"data": [forms_schema.EXAMPLE]}},
            headers=("Form-Version", "Content-Language", "Apply"),
            links=operation_parts.OF_FORMS,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
    ),
    "form_schema": Operation(
        id="getVacancyFormSchema",
        summary="Get the JSON Schema of a submission of that form",
        description="A JSON Schema (2020-12) of a valid submission, with conditions as if/then, "
        "and the "
        "version of the form. A submission is an object that maps the name of each completed "
        "field to its "
        'value: text, the value of an option, a list of values for a checkbox-group, "1" for a '
        "ticked "
        "checkbox, the name of a file. Hidden fields are omitted.",
        tag="Forms",
        takes=(operation_parts.ID, operation_parts.PREVIEW, *operation_parts.LANGUAGE),
        response=SuccessResponse(
            serializer=forms_v1.FormSchemaSerializer,
            description="The version of the form and the schema.",
            examples={"A schema": {"data": example(forms_schema.FORM_SCHEMA)}},
            headers=("Form-Version", "Content-Language"),
            links=operation_parts.OF_FORMS,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
    ),
}
FILTERS = {
    "list": Operation(
        id="listFilters",
        summary="List filters",
        description="Filters and options in use, with the number of public vacancies of each "
        "option. With `filter[...]`, the numbers of a filter's options are those under all the "
        "other filters.",
        tag="Filters",
        takes=(*operation_parts.LANGUAGE, *operation_parts.FACETS),
        response=SuccessResponse(
            serializer=FilterSerializer(many=True),
            description="All filters in use.",
            examples={"Filters": {"data": [example(schema.FILTER)]}},
        ),
    )
}

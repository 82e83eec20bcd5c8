"""Parts of operations in the OpenAPI document: parameters, links and bodies of responses."""

from drf_spectacular.utils import OpenApiParameter

from jobsite.api.openapi import (
    example,
    page,
    query,
)
from jobsite.languages import text_languages
from jobsite.text.search import WORDS_MAX
from jobsite.types import JsonObject
from vacancies.api.schema import OPTION_VALUE, VACANCY
from vacancies.choices import Fact, Keyword
from vacancies.filtersets import NEAR, NEAR_PATTERN, SEARCH, SORT_KEYS, filter_name

INTERNAL = (
    "Public, or limited to networks or signed-in users, as the operator decides: then 401 or 403."
)


def _link(operation: str, description: str, pk: str) -> JsonObject:
    return {"operationId": operation, "description": description, "parameters": {"id": pk}}


OF_LISTS = {"Vacancy": _link("getVacancy", "A vacancy of the list.", "$response.body#/data/0/id")}
_SAME = "$request.path.id"
OF_VACANCIES = {
    "Form": _link("getVacancyForm", "Its application form.", _SAME),
    "FormSchema": _link("getVacancyFormSchema", "The JSON Schema of a submission.", _SAME),
}
OF_FORMS = {
    "Submission": _link(
        "submitApplication", "Takes a submission, if there is the header `Apply`.", _SAME
    )
}
ID = OpenApiParameter(
    "id",
    {"type": "integer", "minimum": 1, "pattern": "^[1-9][0-9]{0,18}$", "examples": [20]},
    OpenApiParameter.PATH,
    required=True,
    description="Unique identifier of the vacancy, in plain digits without leading zeros.",
)
PREVIEW = query(
    "preview",
    {"type": "string", "examples": ["12:1wK3bq:mZl0Rk9…"]},
    "A signed token from the admin. For a day, it shows the vacancy in any state as if it were "
    "published. The response is never cached, and `head_recruiter` is null if there is none.",
)
# Not blank, no NUL, and no U+FFFD, which stands for bytes that are not UTF-8.
_WORDS = r"^[^\u0000\uFFFD]*[^\s\u0000\uFFFD][^\u0000\uFFFD]*$"
_OPTIONS = {"type": "array", "items": OPTION_VALUE, "minItems": 1, "maxItems": 100}
FACETS = (
    query(
        SEARCH,
        {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "pattern": _WORDS,
            "examples": ["ship engineer"],
        },
        f"Vacancies with all of these words, 1 to {WORDS_MAX}, in titles, brand, options, places "
        "and texts: whole words, other forms of them (plural, gender), beginnings and parts. "
        "Quotes are around phrases. Case and accents are ignored.",
    ),
    *(
        query(
            filter_name(keyword),
            _OPTIONS,
            f"Vacancies with any of these options of `{keyword}`: values from `/v1/filters`, "
            "separated by commas. An unknown value matches no vacancy.",
        )
        for keyword in Keyword
    ),
    *(
        query(
            filter_name(fact),
            {**_OPTIONS, "examples": [values]},
            f"Vacancies with any of these {description}, separated by commas. An unknown value "
            "matches no vacancy.",
        )
        for fact, description, values in (
            (Fact.BRAND, "brands: values from `/v1/filters`", ["harbour-works"]),
            (
                Fact.COUNTRY,
                "countries, ISO 3166-1 alpha-2, in `places` or `remote_countries`",
                ["BE", "NL"],
            ),
            (Fact.WORK_PLACE, "values of `work_place`", ["hybrid", "remote"]),
            (Fact.EMPLOYMENT_TYPES, "values in `employment_types`", ["FULL_TIME"]),
            (Fact.LANGUAGE, "values in `languages`", ["en"]),
        )
    ),
    query(
        NEAR,
        {"type": "string", "pattern": NEAR_PATTERN, "examples": ["51.22,4.4,25"]},
        "Vacancies with a place in this circle: `latitude,longitude,km`, plain decimal numbers. "
        "The distance is that of the great circle, 1 to 500 km.",
    ),
)
SORT = query(
    "sort",
    {"type": "string", "enum": list(SORT_KEYS), "default": "-published_at"},
    "Order of the list. A leading `-` means descending. `relevance`, the default of a search: "
    "what fits best is first, then the newest. By `closes_at`, vacancies without an end are last.",
)


# Only of sites whose vacancies have texts in several languages.
LANGUAGE = tuple(
    query(
        "language",
        {"type": "string", "enum": list(codes), "examples": [codes[0]]},
        "Texts in this language, where they are translated: title, slug, `url` and HTML of "
        "vacancies; labels of filters, options and forms. Others are in their own, see `language`. "
        "The list has the same vacancies, in the same order.",
    )
    for codes in filter(None, [text_languages()])
)


def fields_parameter(names: tuple[str, ...]) -> OpenApiParameter:
    """The parameter that selects some of the keys `names`."""
    return query(
        "fields",
        {
            "type": "array",
            "items": {"type": "string", "enum": list(names)},
            "minItems": 1,
            "examples": [["id", "title", "slug"]],
        },
        "Only these keys of each vacancy, separated by commas.",
    )


def page_examples(path: str, names: tuple[str, ...], **values: object) -> JsonObject:
    """Bodies of a list of full vacancies. `values` replace values of the usual example."""
    return {
        "A page": page(path, [example(VACANCY, names) | values], total=1),
        "Nothing found": page(path, [], total=0),
    }


def sparse_examples(path: str) -> JsonObject:
    """The body of a list with the parameter `fields`."""
    names = ("id", "title", "slug")
    return {
        "With fields=id,title,slug": page(
            path, [example(VACANCY, names)], total=1, fields=",".join(names)
        )
    }

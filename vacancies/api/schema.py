"""OpenAPI schemas of the keys and parameters of vacancies, with examples.

Both versions use these keys: they have the same meaning and types (interface 2.3).
"""

from drf_spectacular.utils import OpenApiParameter

from jobsite.api.openapi import (
    ADDRESS,
    DATETIME_PATTERN,
    EXAMPLE_HOST,
    Schema,
    example,
    field,
    open_list,
    page,
    query,
    reference,
)
from jobsite.text.search import WORDS_MAX
from jobsite.types import JsonObject
from vacancies.choices import EmploymentType, Fact, Keyword, PayPeriod, WorkPlace
from vacancies.filtersets import NEAR, NEAR_PATTERN, SEARCH, SORT_KEYS, filter_name

# The format of stored items. Raise it with every change of what an item looks like: of these keys,
# of the serializers, of what they call, and of the placeholders. Items of other formats are
# rendered again.
ITEM_FORMAT = 3

OPTION_VALUE = {"type": "string", "pattern": "^[-A-Za-z0-9_]{1,200}$"}

COUNTRY_PATTERN = "^[A-Z]{2}$"
TEXT_OR_NULL = ["string", "null"]
_LABEL = {"type": "string", "minLength": 1}

# --- Keys --------------------------------------------------------------------------------------


def _text(description: str, example: str) -> Schema:
    """Text that is not empty."""
    return field("string", description, example, minLength=1)


def _text_or_null(description: str, example: str, **rules: object) -> Schema:
    return field(["string", "null"], description, example, minLength=1, **rules)


def _html(description: str, example: str) -> Schema:
    return _text_or_null(
        f"{description} HTML; null if empty.", example, contentMediaType="text/html"
    )


def _labels(description: str, example: list[str]) -> Schema:
    """Labels in the recruiter's order; an empty array if there are none."""
    return field("array", f"{description} Empty if there are none.", example, items=_LABEL)


def _labels_or_null(description: str, example: list[str]) -> Schema:
    return field(
        ["array", "null"],
        f"{description} Null if there are none.",
        example,
        items=_LABEL,
        minItems=1,
    )


def _number_or_null(description: str, example: float, **rules: object) -> Schema:
    return field(["number", "null"], description, example, **rules)


def _address_or_null(description: str, example: str) -> Schema:
    return field(["string", "null"], description, example, pattern=ADDRESS)


def _address_or_empty(description: str, example: str) -> Schema:
    return field(
        "string", f"{description}; empty if there is none.", example, pattern=f"^$|{ADDRESS}"
    )


def _datetime(description: str, example: str) -> Schema:
    return field(
        "string",
        f"{description} `YYYY-MM-DD HH:MM:SS` in the time zone that the header `Time-Zone` names.",
        example,
        pattern=DATETIME_PATTERN,
    )


def _datetime_or_null(description: str, example: str) -> Schema:
    return {**_datetime(description, example), "type": TEXT_OR_NULL}


_ICONS = {
    "small": _address_or_empty("Address of the small icon", f"{EXAMPLE_HOST}/media/s.png"),
    "large": _address_or_empty("Address of the large icon", f"{EXAMPLE_HOST}/media/l.png"),
}
BRAND = {
    "name": _text("Name of the brand.", "Harbour Works"),
    "description": field(
        "string",
        "About the brand. HTML; empty if there is none.",
        "<p>We build and mend ships.</p>",
        contentMediaType="text/html",
    ),
    "icons": field(
        "object",
        "Addresses of its icons.",
        example(_ICONS),
        required=list(_ICONS),
        properties=_ICONS,
    ),
    "url": _address_or_empty("Address of its website", "https://harbour.example.com"),
}

ATTACHMENT = {
    "name": field("string", "File name.", "Job profile.pdf"),
    "path": field(
        "string",
        "Address of the download.",
        f"{EXAMPLE_HOST}/media/attachments/profile.pdf",
        pattern=ADDRESS,
    ),
}

RECRUITER = {
    "id": field("integer", "Identifier of the recruiter.", 7, minimum=1),
    "name": _text("Name of the recruiter.", "Noor Peeters"),
    "function": _text_or_null("Function; null if unknown.", "Recruiter Technology"),
    "email": _text_or_null("E-mail address; null unless it is public.", "noor.peeters@example.com"),
    "phone": _text_or_null("Telephone number; null unless it is public.", "+32 3 555 01 42"),
    "image": _address_or_null(
        "Address of a portrait; null if there is none.", f"{EXAMPLE_HOST}/media/recruiters/noor.jpg"
    ),
}

PLACE = {
    "street": _text_or_null("Street and number; null if unknown.", "Kattendijkdok 12"),
    "postal_code": _text_or_null("Postal code; null if unknown.", "2000"),
    "locality": _text("City or village.", "Antwerp"),
    "region": _text_or_null("State or province; null if unknown.", "Flanders"),
    "country": field("string", "Country, ISO 3166-1 alpha-2.", "BE", pattern=COUNTRY_PATTERN),
    "latitude": _number_or_null(
        "Latitude in degrees; null if unknown.", 51.2213, minimum=-90, maximum=90
    ),
    "longitude": _number_or_null(
        "Longitude in degrees; null if unknown.", 4.4051, minimum=-180, maximum=180
    ),
}
PAY = {
    "min": _number_or_null("Lowest amount; null if there is none.", 3100, minimum=0),
    "max": _number_or_null("Highest amount; null if there is none.", 4250.5, minimum=0),
    "currency": _text_or_null(
        "Currency, ISO 4217; null without an amount.", "EUR", pattern="^[A-Z]{3}$"
    ),
    "period": open_list(
        "What an amount is for; null without one.", "month", PayPeriod.values, types=TEXT_OR_NULL
    ),
    "note": _text_or_null(
        "Gross or net, collective agreement, benefits.", "Gross, plus meal vouchers"
    ),
}

VACANCY = {
    "id": field("integer", "Unique identifier of the vacancy.", 412, minimum=1),
    "title": _text("Title.", "Naval architect"),
    "title_internal": _text(
        "Internal title, else the title. Public.", "Naval architect (dry dock)"
    ),
    "slug": field(
        "string",
        "Title in plain ASCII for addresses, with the id in brackets at its end.",
        "naval-architect-(412)",
        pattern=r"^([-a-z0-9_]+-)?\([1-9][0-9]*\)$",
    ),
    "brand": reference(
        "Brand",
        "Brand of the employer. Present if the site shows several brands and the vacancy has one.",
        examples=[example(BRAND)],
    ),
    "is_hot": field("boolean", "Whether the vacancy is featured.", False),
    "is_permanent": field("boolean", "Whether the vacancy is continuously open.", False),
    "functiongroup": _text_or_null("Job category; null if there is none.", "Engineering"),
    "types": _labels_or_null("Vacancy types.", ["Experienced", "Graduate"]),
    "type": _text_or_null("First vacancy type; null if there is none.", "Experienced"),
    "contract_types": _labels_or_null("Contract types.", ["Permanent"]),
    "contract_type": _text_or_null("First contract type; null if there is none.", "Permanent"),
    "work_regimes": _labels_or_null("Work regimes.", ["Full-time", "Part-time"]),
    "work_regime": _text_or_null("First work regime; null if there is none.", "Full-time"),
    "regions": _labels("Regions of the vacancy.", ["Antwerp", "Ghent"]),
    "jobcustom1_values": _labels("Terms of custom filter 1.", ["Shipyard"]),
    "jobcustom2_values": _labels("Terms of custom filter 2.", []),
    "jobcustom3_values": _labels("Terms of custom filter 3.", []),
    "jobcustom4_values": _labels("Terms of custom filter 4.", []),
    "location": _text_or_null("Location; null if there is none.", "Antwerp, Kattendijk dock"),
    "description": _html(
        "The job.", "<p>You draw the hulls of <strong>inland tankers</strong>.</p>"
    ),
    "short_description": _html("The job in a few words.", "<p>Draw hulls of inland tankers.</p>"),
    "profile": _html("Profile of the candidate.", "<ul><li>Degree in naval architecture</li></ul>"),
    "offer": _html("What is offered.", "<p>A permanent job by the water.</p>"),
    "contact": _html("Contact for questions.", "<p>Call Noor Peeters.</p>"),
    "company": _html("About the company.", "<p>Harbour Works mends ships since 1921.</p>"),
    "postcustom1": _html("Extra information.", "<p>The selection takes two weeks.</p>"),
    "image": _address_or_null(
        "Address of an image; null if there is none.", f"{EXAMPLE_HOST}/media/vacancies/dock.jpg"
    ),
    "video": _text_or_null(
        "Address of a video; null if there is none.", "https://video.example.com/dock"
    ),
    "attachments": field(
        "array",
        "Files to download. Present only if there are some.",
        [example(ATTACHMENT)],
        items=reference("Attachment"),
        minItems=1,
    ),
    "head_recruiter": reference(
        "Recruiter", "Responsible recruiter.", examples=[example(RECRUITER)]
    ),
    "recruiters": field(
        ["array", "null"],
        "Recruiters of the vacancy; null if there are none.",
        [example(RECRUITER)],
        items=reference("Recruiter"),
        minItems=1,
    ),
    "updated_at": _datetime(
        "Last change of the vacancy itself. It stays when the label of an option, a recruiter or "
        "a brand "
        "changes: compare whole items.",
        "2026-11-03 14:20:05",
    ),
    "created_at": _datetime("Creation.", "2026-10-28 09:00:00"),
    "apply_url": _address_or_null(
        "Address of another site where applicants apply; null if they use the application form.",
        "https://apply.example.com/naval-architect",
    ),
    "reference": _text_or_null("Number or code of the employer, once per brand.", "HW-2026-041"),
    "language": field("string", "Language of the texts, ISO 639-1.", "en", pattern="^[a-z]{2}$"),
    "work_place": open_list(
        "Where the work is done; null if unknown.", "hybrid", WorkPlace.values, types=TEXT_OR_NULL
    ),
    "places": field(
        "array",
        "Places where the work is done. Empty if there are none.",
        [example(PLACE)],
        items=reference("Place"),
    ),
    "remote_countries": field(
        "array",
        "Countries in which a remote worker may live, ISO 3166-1 alpha-2. Empty if there are none.",
        ["BE", "NL"],
        items={"type": "string", "pattern": COUNTRY_PATTERN},
    ),
    "employment_types": field(
        "array",
        "Employment types of schema.org, from its options. Empty if there are none. Expect other "
        "values.",
        ["FULL_TIME"],
        items={"type": "string", "x-extensible-enum": EmploymentType.values},
    ),
    "pay": {
        "anyOf": [reference("Pay"), {"type": "null"}],
        "description": "What the job pays; null if it is unknown or not public.",
        "examples": [example(PAY)],
    },
    "published_at": _datetime("Start of the publication.", "2026-11-01 09:00:00"),
    "closes_at": _datetime_or_null(
        "First moment at which the vacancy is not shown; null without an end.",
        "2026-12-01 00:00:00",
    ),
    "closing_date": field(
        ["string", "null"],
        "Last day on which the vacancy is shown, to print; null without an end.",
        "2026-11-30",
        format="date",
    ),
    "url": _address_or_null(
        "Address of its page for people, on the website of its brand or on the career site; null "
        "if there is "
        "none.",
        "https://harbour.example.com/jobs/412",
    ),
}

OPTION = {
    "value": field(
        "string", "What to send in `filter[...]`.", "antwerp", pattern=OPTION_VALUE["pattern"]
    ),
    "label": _text("Label, as in vacancies; of a fact, in the language of the site.", "Antwerp"),
    "count": field(
        "integer",
        "Number of public vacancies with this option that match the request's other filters.",
        12,
        minimum=1,
    ),
}
FILTER = {
    "id": field("integer", "Identifier of the filter.", 5, minimum=1),
    "label": _text("Heading of the options.", "Region"),
    "keyword": open_list(
        "Name in `filter[...]`. Up to `jobcustom4_values`, the key of a vacancy that has the "
        "labels.",
        "regions",
        map(str, [*Keyword, *Fact]),
    ),
    "options": field(
        "array",
        "Options in use, in the order to show them.",
        [example(OPTION), {"value": "ghent", "label": "Ghent", "count": 3}],
        items=reference("FilterOption"),
        minItems=1,
    ),
}

INTERNAL = (
    "Public, or limited to networks or signed-in users, as the operator decides: then 401 or 403."
)

# --- Links -------------------------------------------------------------------------------------


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

# --- Parameters --------------------------------------------------------------------------------

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
    "published. "
    "The response is never cached, and `head_recruiter` is null if there is none.",
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
        "and texts: "
        "whole words, other forms of them (plural, gender), beginnings and parts. Quotes are "
        "around phrases. "
        "Case and accents are ignored.",
    ),
    *(
        query(
            filter_name(keyword),
            _OPTIONS,
            f"Vacancies with any of these options of `{keyword}`: values from `/v1/filters`, "
            "separated by "
            "commas. An unknown value matches no vacancy.",
        )
        for keyword in Keyword
    ),
    *(
        query(
            filter_name(fact),
            {**_OPTIONS, "examples": [values]},
            f"Vacancies with any of these {description}, separated by commas. An unknown value "
            "matches no "
            "vacancy.",
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
            (Fact.LANGUAGE, "values of `language`", ["en"]),
        )
    ),
    query(
        NEAR,
        {"type": "string", "pattern": NEAR_PATTERN, "examples": ["51.22,4.4,25"]},
        "Vacancies with a place in this circle: `latitude,longitude,km`, plain decimal numbers. "
        "The distance "
        "is that of the great circle, 1 to 500 km.",
    ),
)
SORT = query(
    "sort",
    {"type": "string", "enum": list(SORT_KEYS), "default": "-published_at"},
    "Order of the list. A leading `-` means descending. `relevance`, the default of a search: "
    "what fits best "
    "is first, then the newest. By `closes_at`, vacancies without an end are last.",
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


# --- The feed ------------------------------------------------------------------------------------

CHANGE = {
    "id": field("integer", "Id of the vacancy.", 412, minimum=1),
    "change": field(
        "string",
        "`upsert`: the vacancy is in the list, with this content. `remove`: it is not.",
        "upsert",
        enum=["upsert", "remove"],
    ),
    "vacancy": {
        "description": "The vacancy as in the list; absent if it is removed.",
        "anyOf": [reference("Vacancy"), reference("SparseVacancy")],
        "examples": [{"id": 412, "title": "Ship engineer"}],
    },
}
_CURSOR = "WzAsMCwwLDAsNyw5MjIzMzcyMDM2ODU0Nzc1ODA3XQ"
_NEXT = f"{EXAMPLE_HOST}/v1/vacancies/changes?since={_CURSOR}"
FEED = {
    "links": {
        "type": "object",
        "required": ["next"],
        "properties": {
            "next": field(
                "string", "Address of the changes after these, also to poll.", _NEXT, format="uri"
            )
        },
    },
    "meta": {
        "type": "object",
        "required": ["cursor", "more"],
        "properties": {
            "cursor": field("string", "The position after these changes.", _CURSOR, minLength=1),
            "more": field("boolean", "Whether there are more changes now.", False),
        },
    },
}
FEED_RULES = (
    " Without `since`, the feed begins with all vacancies of the list. Apply the changes in their "
    "order, and follow `links.next`. After a response with `more: false`, a copy is exactly the "
    "list at the time of that response. A change can come twice. After 410, read the list anew "
    "from `links.restart`, and delete what it does not contain."
)
FEED_PARAMETERS = (
    query(
        "since",
        {"type": "string", "minLength": 1, "maxLength": 400, "examples": [_CURSOR]},
        "Changes after this cursor, which is valid for the same list, brand and keys.",
    ),
    query(
        "page[size]",
        {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "examples": [500]},
        "The most changes in one response.",
    ),
    query(
        filter_name(Fact.BRAND),
        {"type": "string", "minLength": 1, "maxLength": 200, "examples": ["harbour-works"]},
        "Only vacancies of the brand with this slug.",
    ),
)


def feed_examples(path: str, names: tuple[str, ...]) -> JsonObject:
    links = {"next": f"{EXAMPLE_HOST}{path}/changes?since={_CURSOR}"}
    item = example(VACANCY, names)
    changes = [
        {"id": item["id"], "change": "upsert", "vacancy": item},
        {"id": 380, "change": "remove"},
    ]
    meta = {"cursor": _CURSOR, "more": False}
    return {
        "Changes": {"data": changes, "links": links, "meta": meta},
        "Nothing changed": {"data": [], "links": links, "meta": meta},
    }


# --- Examples ----------------------------------------------------------------------------------


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

"""What the keys, parameters and examples of vacancies mean, in the words of OpenAPI.

Both versions take their keys from here: interface 2.3 gives them the same meaning and types.
"""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

from jobsite.api.openapi import (
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
from vacancies.choices import Keyword
from vacancies.filtersets import MAX_WORDS, SEARCH, SORT_KEYS, filter_name

TEXT, TEXT_OR_NULL = "string", ["string", "null"]
OPTION_VALUE = {"type": "string", "pattern": "^[-A-Za-z0-9_]{1,200}$"}

# --- Keys --------------------------------------------------------------------------------------


def _html(description: str, example: str) -> Schema:
    return field(
        TEXT_OR_NULL, f"{description} HTML; null when there is none.", example, contentMediaType="text/html"
    )


def _labels(description: str, example: list[str]) -> Schema:
    """Labels in the recruiter's order, an empty array when there are none."""
    return field("array", f"{description} Empty when there are none.", example, items={"type": "string"})


def _labels_or_null(description: str, example: list[str]) -> Schema:
    return field(
        ["array", "null"],
        f"{description} Null when there are none.",
        example,
        items={"type": "string"},
        minItems=1,
    )


def _address_or_null(description: str, example: str) -> Schema:
    return field(TEXT_OR_NULL, description, example, pattern="^https?://")


def _moment(description: str, example: str) -> Schema:
    return field(
        "string",
        f"{description} `YYYY-MM-DD HH:MM:SS` in the time zone that the header `Time-Zone` names.",
        example,
        pattern=DATETIME_PATTERN,
    )


_ICONS = {
    "small": field(
        "string", "Address of the small icon, empty when there is none.", f"{EXAMPLE_HOST}/media/s.png"
    ),
    "large": field(
        "string", "Address of the large icon, empty when there is none.", f"{EXAMPLE_HOST}/media/l.png"
    ),
}
BRAND = {
    "name": field("string", "Name of the brand.", "Harbour Works"),
    "description": field(
        "string", "About the brand. HTML, empty when there is none.", "<p>We build and mend ships.</p>",
        contentMediaType="text/html",
    ),
    "icons": field(
        "object", "Addresses of its icons.", example(_ICONS), required=list(_ICONS), properties=_ICONS
    ),
    "url": field("string", "Address of its website, empty when there is none.", "https://harbour.example.com"),
}  # fmt: skip

ATTACHMENT = {
    "name": field("string", "File name.", "Job profile.pdf"),
    "path": field("string", "Address to download it from.", f"{EXAMPLE_HOST}/media/attachments/profile.pdf"),
}

RECRUITER = {
    "id": field("integer", "Identifier of the recruiter.", 7, minimum=1),
    "name": field("string", "Name of the recruiter.", "Noor Peeters"),
    "function": field(TEXT_OR_NULL, "Function; null when unknown.", "Recruiter Technology"),
    "email": field(TEXT_OR_NULL, "E-mail address; null unless it is public.", "noor.peeters@example.com"),
    "phone": field(TEXT_OR_NULL, "Telephone number; null unless it is public.", "+32 3 555 01 42"),
    "image": _address_or_null(
        "Address of a portrait; null when there is none.", f"{EXAMPLE_HOST}/media/recruiters/noor.jpg"
    ),
}

VACANCY = {
    "id": field("integer", "Unique identifier of the vacancy.", 412, minimum=1),
    "title": field("string", "Title.", "Naval architect"),
    "title_internal": field(
        "string", "Internal title; the title when there is none. Public.", "Naval architect (dry dock)"
    ),
    "slug": field(
        "string", "Title in plain ASCII for addresses, with the id in brackets at its end.",
        "naval-architect-(412)", pattern=r"^([-a-z0-9_]+-)?\([1-9][0-9]*\)$",
    ),
    "brand": reference(
        "Brand", "Face of the employer. Present where the site shows several brands and the vacancy has one.",
        examples=[example(BRAND)],
    ),
    "is_hot": field("boolean", "Whether the vacancy should get more attention.", False),
    "is_permanent": field("boolean", "Whether the vacancy is continuously open.", False),
    "functiongroup": field(TEXT_OR_NULL, "Function group; null when there is none.", "Engineering"),
    "types": _labels_or_null("Vacancy types.", ["Experienced", "Graduate"]),
    "type": field(TEXT_OR_NULL, "First vacancy type; null when there is none.", "Experienced"),
    "contract_types": _labels_or_null("Contract types.", ["Permanent"]),
    "contract_type": field(TEXT_OR_NULL, "First contract type; null when there is none.", "Permanent"),
    "work_regimes": _labels_or_null("Work regimes.", ["Full-time", "Part-time"]),
    "work_regime": field(TEXT_OR_NULL, "First work regime; null when there is none.", "Full-time"),
    "regions": _labels("Regions of the vacancy.", ["Antwerp", "Ghent"]),
    "jobcustom1_values": _labels("Terms of custom filter 1.", ["Shipyard"]),
    "jobcustom2_values": _labels("Terms of custom filter 2.", []),
    "jobcustom3_values": _labels("Terms of custom filter 3.", []),
    "jobcustom4_values": _labels("Terms of custom filter 4.", []),
    "location": field(TEXT_OR_NULL, "Location; null when there is none.", "Antwerp, Kattendijk dock"),
    "description": _html("The job.", "<p>You draw the hulls of <strong>inland tankers</strong>.</p>"),
    "short_description": _html("The job in a few words.", "<p>Draw hulls of inland tankers.</p>"),
    "profile": _html("Who is looked for.", "<ul><li>Degree in naval architecture</li></ul>"),
    "offer": _html("What is offered.", "<p>A permanent job by the water.</p>"),
    "contact": _html("Whom to turn to.", "<p>Call Noor Peeters.</p>"),
    "company": _html("About the company.", "<p>Harbour Works mends ships since 1921.</p>"),
    "postcustom1": _html("Extra information.", "<p>The selection takes two weeks.</p>"),
    "image": _address_or_null(
        "Address of an image; null when there is none.", f"{EXAMPLE_HOST}/media/vacancies/dock.jpg"
    ),
    "video": field(TEXT_OR_NULL, "Address of a video; null when there is none.", "https://video.example.com/dock"),
    "attachments": field(
        "array", "Files to download. Present only when there are some.", [example(ATTACHMENT)],
        items=reference("Attachment"), minItems=1,
    ),
    "head_recruiter": reference("Recruiter", "Responsible recruiter.", examples=[example(RECRUITER)]),
    "recruiters": field(
        ["array", "null"], "Recruiters of the vacancy; null when there are none.", [example(RECRUITER)],
        items=reference("Recruiter"), minItems=1,
    ),
    "updated_at": _moment("Last change.", "2026-11-03 14:20:05"),
    "created_at": _moment("Creation.", "2026-10-28 09:00:00"),
}  # fmt: skip

OPTION = {
    "value": field("string", "What to send in `filter[...]`.", "antwerp", pattern=OPTION_VALUE["pattern"]),
    "label": field("string", "What to show, as vacancies carry it.", "Antwerp"),
    "count": field(
        "integer", "Number of public vacancies with it under the other filters of the request.", 12, minimum=1
    ),
}
FILTER = {
    "id": field("integer", "Identifier of the filter.", 5, minimum=1),
    "label": field("string", "What to show above the options.", "Region"),
    "keyword": open_list(
        "Member of `filter[...]`, and the key of a vacancy that holds the labels.",
        "regions", map(str, Keyword),
    ),
    "options": field(
        "array", "Options in use, in the order of the recruiters.",
        [example(OPTION), {"value": "ghent", "label": "Ghent", "count": 3}],
        items=reference("FilterOption"), minItems=1,
    ),
}  # fmt: skip

INTERNAL = "Open, or limited to networks or signed-in users, as the operator decides; then 401 or 403."

# --- Parameters --------------------------------------------------------------------------------

ID = OpenApiParameter(
    "id",
    {"type": "integer", "minimum": 1, "pattern": "^[1-9][0-9]{0,18}$", "examples": [412]},
    OpenApiParameter.PATH,
    required=True,
    description="Unique identifier of the vacancy, in plain digits without leading zeros.",
)
PREVIEW = query(
    "preview",
    {"type": "string", "examples": ["12:1wK3bq:mZl0Rk9…"]},
    "A signed token from the workplace: shows the vacancy as publishing it would, whatever its state, for a "
    "day. Such an answer is never cached, and `head_recruiter` is null while nobody was chosen.",
)
_WORDS = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"  # at least something, and no NUL
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
        f"Vacancies with all of these words, 1 to {MAX_WORDS}, in titles and texts; "
        "case and accents do not matter.",
    ),
    *(
        query(
            filter_name(keyword),
            _OPTIONS,
            f"Vacancies with any of these options of `{keyword}`: values from `/v1/filters`, a comma list. "
            "A value that no vacancy has finds nothing.",
        )
        for keyword in Keyword
    ),
)
SORT = query(
    "sort",
    {"type": "string", "enum": list(SORT_KEYS), "default": "-published_at"},
    "Order of the list; a leading `-` turns it round.",
)


def fields_parameter(names: tuple[str, ...]) -> OpenApiParameter:
    """The parameter that cuts items to some of their keys `names`."""
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


# --- Examples ----------------------------------------------------------------------------------


def page_examples(path: str, names: tuple[str, ...], **values: Any) -> dict[str, Any]:
    """Bodies of a list of whole vacancies; `values` replace those of the usual example."""
    return {
        "A page": page(path, [example(VACANCY, names) | values], total=1),
        "Nothing found": page(path, [], total=0),
    }


def sparse_examples(path: str) -> dict[str, Any]:
    """The body of a list with `fields`."""
    names = ("id", "title", "slug")
    return {
        "With fields=id,title,slug": page(path, [example(VACANCY, names)], total=1, fields=",".join(names))
    }

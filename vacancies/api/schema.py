"""OpenAPI schemas of the keys of vacancies, with examples.

Both versions use these keys: they have the same meaning and types (interface 2.3).
"""

from jobsite.api.openapi import (
    ADDRESS,
    DATETIME_PATTERN,
    EXAMPLE_HOST,
    Schema,
    example,
    field,
    open_list,
    reference,
)
from vacancies.choices import EmploymentType, Fact, Keyword, PayPeriod, WorkPlace

# The format of stored items. Raise it with every change of what an item looks like: of these keys,
# of the serializers, of what they call, and of the placeholders. Items of other formats are
# rendered again.
ITEM_FORMAT = 5
OPTION_VALUE = {"type": "string", "pattern": "^[-A-Za-z0-9_]{1,200}$"}
COUNTRY_PATTERN = "^[A-Z]{2}$"
TEXT_OR_NULL = ["string", "null"]
_LABEL = {"type": "string", "minLength": 1}


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
        "a brand changes: compare whole items.",
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
        "if there is none.",
        "https://harbour.example.com/jobs/412",
    ),
    "languages": field(
        "array",
        "Languages in which the vacancy can be read, ISO 639-1. The first is its own: that of the "
        "texts without the parameter `language`.",
        ["en"],
        items={"type": "string", "pattern": "^[a-z]{2}$"},
        minItems=1,
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

"""The JSON Schema of a submission, compared with an independent implementation of its rules."""

import re
from datetime import date
from string import ascii_letters, digits

import pytest
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from forms_structure.schema import submission_schema
from tests.forms_structure.strategies import (
    chain,
    section,
    served,
    specimen,
    structures,
    text_field,
)

ADDRESS = "https://jobs.example.com/v1/vacancies/1/form/schema"
CONSENT = {
    "name": "privacy_consent",
    "type": "checkbox",
    "label": "I agree.",
    "required": True,
    "css": "col-12",
    "version": 1,
}
BY_KIND = {
    "text": ["Ghent", " x ", "1"],
    "textarea": ["One\nTwo", "日本語 🚑"],
    "email": [
        "an@example.com",
        "O'Neil+jobs.2@mail-1.example.co",
        "x" * 64 + "@" + "y" * 63 + ".be",
    ],
    "tel": ["+32 3 555 01 42", "112", "(03) 555/01.42"],
    "date": ["2026-03-02", "1999-12-31", "2000-02-29", "0001-01-01", "9999-12-31"],
    "file": ["cv.pdf"],
}
LONGEST = {"text": 200, "textarea": 10_000, "email": 254, "tel": 30, "date": 10, "file": 255}
WRONG_BY_KIND = {
    "text": ["x" * 201, "\ufeff", "\u2003\u00a0\ufeff", "\x1c\x85"],
    "textarea": ["x" * 10_001, "\n\u2028\u2029"],
    "file": ["x" * 252 + ".pdf", "\u3000"],
    "email": [
        "an",
        "@",
        "a@",
        "@b",
        "a b@c",
        "a@b@c",
        "a@b",
        "é@example.com",
        "a@exämple.com",
        "a@example.com\n",
        ".a@example.com",
        "a.@example.com",
        "a..b@example.com",
        "a@.example.com",
        "a@example..com",
        "a@-example.com",
        "a@example-.com",
        "a@example.com.",
        "a@[127.0.0.1]",
        '"a b"@example.com',
        "x" * 65 + "@example.com",
        "a@" + "y" * 64 + ".com",
        "a@" + ".".join(["y" * 60] * 4) + ".organising",
        "a@example.com\ufeff",
        "\u017f@example.com",
        "a@example.\u212aom",
    ],
    "tel": [
        "12",
        "call me",
        "+",
        "---",
        "112\n",
        "+" + "5" * 30,
        "32+3",
        "112\u00a03",
        "112\u2028",
        "\u0661\u0661\u0662",
    ],
    "date": [
        "2026-3-2",
        "02/03/2026",
        "2026-13-01",
        "2026-00-10",
        "2026-01-32",
        "2026-01-00",
        "today",
        "2026-02-30",
        "2026-02-29",
        "1900-02-29",
        "2100-02-29",
        "2026-04-31",
        "0000-01-01",
        "2026-01-01\n",
        "20260-01-01",
        "2026-01-01T00:00",
        "\u0662026-01-01",
    ],
}
JUNK = [
    *(None, True, 1, 0, "", " ", "1", "nonsense", [], ["1"], [[]], {}, {"1": "1"}),
    *(
        "\ufeff",
        "\u200b",
        "\x85",
        "\x1c",
        "\u180e",
        "\ud800",
        " \udfff",
        "🚑" * 200,
        "🚑" * 201,
        "\x00",
    ),
]


# --- The rules, read straight ------------------------------------------------------------------


def fits(field, value):
    values = [option["value"] for option in field.get("options", ())]
    if field["type"] == "checkbox-group":
        is_list = (
            isinstance(value, list) and value != [] and all(isinstance(each, str) for each in value)
        )
        return is_list and set(value) <= {*values} and len(set(value)) == len(value)
    if not isinstance(value, str):
        return False
    if values:
        return value in values
    if field["type"] == "checkbox":
        return value == "1"
    if len(value) > LONGEST[field["type"]]:
        return False
    if field["type"] == "email":
        return is_email(value)
    if field["type"] == "tel":
        rest = value.removeprefix("+")
        return (
            len(value) >= 3 and set(rest) <= set("0123456789 ()./-") and any(map(str.isdigit, rest))
        )
    if field["type"] == "date":
        return is_day(value)
    return any(not letter.isspace() and letter != "\ufeff" for letter in value)


def is_email(value):
    """Whether `value` is a dot-atom of RFC 5322, of up to 64 characters, at a host name."""
    if value.count("@") != 1:
        return False
    local, host = value.split("@")
    letters, labels = set(ascii_letters + digits), host.split(".")
    atom = letters | set("!#$%&'*+-/=?^_`{|}~.")
    fit = [0 < len(label) <= 63 and set(label) <= letters | {"-"} for label in labels]
    fit += [not label.startswith("-") and not label.endswith("-") for label in labels]
    return (
        len(local) <= 64
        and all(local.split("."))
        and set(local) <= atom
        and len(labels) > 1
        and all(fit)
    )


def is_day(value):
    """Whether `value` is YYYY-MM-DD of a day that exists."""
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def is_shown(conditional, value):
    return (
        conditional["on_value"] in value
        if isinstance(value, list)
        else conditional["on_value"] == value
    )


def is_valid(sections, submission):
    """Whether `submission` is valid: only known fields that are shown, all required ones of them,
    and the name of an extra language together with its level.
    """
    if not isinstance(submission, dict):
        return False
    known = set()

    def are_fine(fields):
        for field in fields:
            requested = {field["name"]: field}
            if isinstance(field["label"], dict):
                requested[field["label"]["name"]] = field["label"]
            known.update(requested)
            there = [name for name in requested if name in submission]
            if len(there) < len(requested) and (there or field["required"]):
                return False
            if not all(fits(requested[name], submission[name]) for name in there):
                return False
            depending = field.get("conditional", ()) if field["name"] in submission else ()
            if not are_fine(
                [each for each in depending if is_shown(each, submission[field["name"]])]
            ):
                return False
        return True

    return (
        are_fine([field for each in sections for field in each["fields"]])
        and set(submission) <= known
    )


# --- Made up -----------------------------------------------------------------------------------


@st.composite
def forms(draw):
    return served(draw(structures(min_sections=1)), "en", CONSENT)


@st.composite
def submissions(draw, sections):
    submission = {}

    def fill_in(fields):
        for field in fields:
            if not field["required"] and draw(st.booleans()):
                continue
            values = [option["value"] for option in field.get("options", ())]
            if field["type"] == "checkbox-group":
                chosen = st.lists(st.sampled_from(values), min_size=1, unique=True)
            else:
                chosen = st.sampled_from(values or BY_KIND.get(field["type"], ["1"]))
            value = submission[field["name"]] = draw(chosen)
            if isinstance(field["label"], dict):
                submission[field["label"]["name"]] = "Klingon"
            fill_in([each for each in field.get("conditional", ()) if is_shown(each, value)])

    fill_in([field for each in sections for field in each["fields"]])
    return submission


def all_fields(sections):
    fields = [field for each in sections for field in each["fields"]]
    for field in fields:  # grows
        fields += field.get("conditional", ())
    return fields


def all_names(sections):
    requested = [[field, field["label"]] for field in all_fields(sections)]
    return [each["name"] for pair in requested for each in pair if isinstance(each, dict)]


def all_values(sections):
    return [
        option["value"] for field in all_fields(sections) for option in field.get("options", ())
    ]


# --- The schema --------------------------------------------------------------------------------


def changed_submissions(sections):
    """Return a full and a minimal submission of the specimen, and both with each field removed or
    changed.
    """
    full = {
        "first_name": "An",
        "mail": "an@example.com",
        "permit": "yes",
        "english": "5",
        "certificate": "c.pdf",
        "other_level": "0",
        "other_language": "Klingon",
        "licences": ["yes", "no"],
        "which": "Both",
        "moves": "1",
        "from": "2026-03-02",
        "shift": "no",
        "privacy_consent": "1",
    }
    both = [full, {"first_name": "An", "privacy_consent": "1"}]
    changes = [*JUNK, "yes", "no", ["no"], ["no", "no"], "5", "an@example.com", "2026-03-02"]
    changed = []
    for base in both:
        for name in [*all_names(sections), "unheard_of"]:
            changed += [base | {name: value} for value in changes]
            changed.append({key: value for key, value in base.items() if key != name})
    return [None, [], "x", 1, [full], *both, *changed]


@pytest.mark.slow("many cases")
def test_each_removed_or_added_member_is_validated_by_the_rules():
    sections = served(specimen(), "en", CONSENT)
    validator = Draft202012Validator(submission_schema(sections, address=ADDRESS))
    submissions = changed_submissions(sections)
    verdicts = [is_valid(sections, submission) for submission in submissions]

    assert [
        each for each in submissions if validator.is_valid(each) != is_valid(sections, each)
    ] == []
    assert verdicts[:7] == [False] * 5 + [True, True]
    assert min(verdicts.count(True), verdicts.count(False)) > 50


def validator_of(*fields):
    return Draft202012Validator(submission_schema(served([section(*fields)]), address=ADDRESS))


def test_text_of_each_kind():
    wrong = []
    for kind, valid in BY_KIND.items():
        validator = validator_of(text_field(type=kind))
        refused = ("", " \n", *WRONG_BY_KIND.get(kind, ()))
        wrong += [(kind, value) for value in valid if not validator.is_valid({"city": value})]
        wrong += [(kind, value) for value in refused if validator.is_valid({"city": value})]
    assert wrong == []


def test_text_length_is_limited_in_code_points():
    schemas = {
        kind: validator_of(text_field(type=kind)).schema["properties"]["city"] for kind in BY_KIND
    }

    assert {kind: schema["maxLength"] for kind, schema in schemas.items()} == LONGEST
    for kind in ("text", "textarea", "file"):
        validator = Draft202012Validator(schemas[kind])
        assert validator.is_valid("🚑" * LONGEST[kind]), kind
        assert not validator.is_valid("🚑" * LONGEST[kind] + "x"), kind


def test_date_must_exist():
    """Every combination of month and day, valid or not, in leap years and others."""
    schema = validator_of(text_field(type="date")).schema
    pattern = re.compile(schema["properties"]["city"]["pattern"])
    for year in (
        0,
        1,
        4,
        96,
        100,
        400,
        1600,
        1700,
        1900,
        1999,
        2000,
        2004,
        2026,
        2028,
        2100,
        9996,
        9999,
    ):
        for month in range(14):
            for day in range(33):
                text = f"{year:04}-{month:02}-{day:02}"
                assert bool(pattern.search(text)) == is_day(text), text


def test_pattern_takes_linear_time():
    """Validators apply patterns to texts that are too long too.
    A pattern with quadratic time takes hours.
    """
    many = 200_000
    hostile = (
        "a" * many,
        "a." * many + "@",
        "a@" + "b." * many,
        "a@" + "b" * many,
        " " * many,
        "1" * many,
    )
    for kind in BY_KIND:
        pattern = re.compile(
            validator_of(text_field(type=kind)).schema["properties"]["city"]["pattern"]
        )
        found = [bool(pattern.search(text + "\n")) for text in hostile]
        takes_any = kind in ("text", "textarea", "file")
        assert found == [takes_any and bool(text.strip()) for text in hostile], kind


def test_conditions_apply_together_and_at_every_depth():
    options = [{"value": value, "label": value} for value in "ab"]
    more = [text_field(f"why_{value}", on_value=value, required=True) for value in "ab"]
    deep = field = chain(3)[0]["fields"][0]
    while field:
        field["required"] = True
        field = field.get("conditional", [None])[0]
    group = text_field("group", type="checkbox-group", options=options, conditional=more)
    values = {"group": ["a", "b"], "why_a": "x", "why_b": "y"}
    for one, whole in ((deep, {f"level{n}": "1" for n in range(4)}), (group, values)):
        sections, validator = served([section(one)]), validator_of(one)
        parts = [
            whole,
            *({key: whole[key] for key in whole if key != left_out} for left_out in whole),
        ]
        parts += [whole | {"group": ["b"]}, {"group": ["b"], "why_b": "y"}] if one is group else []
        assert [
            part for part in parts if validator.is_valid(part) != is_valid(sections, part)
        ] == []
        assert is_valid(sections, whole)

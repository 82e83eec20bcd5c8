"""Generated forms: valid structures, their API format, and every kind of error.

The lists below are independent of the code, so that tests detect a wrong change.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from django.conf import settings
from hypothesis import strategies as st

from jobsite.text.html import sanitise

TYPES_WITH_OPTIONS = ("select", "checkbox-group", "radio-group")
TYPES = (
    *TYPES_WITH_OPTIONS,
    "range",
    "checkbox",
    "text",
    "textarea",
    "email",
    "tel",
    "date",
    "file",
)
ROLES = {  # the types that may have each role
    "email": ("email",),
    "given_name": ("text",),
    "family_name": ("text",),
    "phone": ("tel", "text"),
    "cv": ("file",),
    "pool": ("checkbox",),
}
WIDTHS = ("col-12", "col-8", "col-6", "col-4", "col-3")
LANGUAGES = ("en", "nl", "fr", "de")
LEVELS = {
    "en": ("no", "weak", "moderate", "good", "very good", "native speaker"),
    "nl": ("geen", "zwak", "matig", "goed", "zeer goed", "moedertaal"),
    "fr": ("aucune", "faible", "moyen", "bon", "très bon", "langue maternelle"),
    "de": ("keine", "schwach", "mittel", "gut", "sehr gut", "Muttersprache"),
}

# --- Valid structures --------------------------------------------------------------------------

_one_line = st.characters(exclude_categories=["Cs", "Cc"])  # no surrogates, no control characters
titles = st.text(_one_line, max_size=12)
texts = st.text(_one_line, min_size=1, max_size=12).filter(str.strip)
descriptions = st.one_of(
    st.just(""),
    st.just(
        '<p>Read <a href="https://example.com/?a=1&amp;b=2">this</a>.</p><ul><li>日本語 🚑</li></ul>'
    ),
    texts.map(lambda text: str(sanitise(f"<p>{escape(text)}</p>"))),
)
_stems = st.sampled_from(["a", "Z", "first_name_", "e-mail-", "x" * 55])


class _Draw:
    """Draws a structure of bounded size. Names are numbered, so that they are unique."""

    def __init__(self, draw: Any, fields_max: int, prefix: str, roles: Collection[str]) -> None:
        self.draw, self.left, self.prefix, self.number = draw, fields_max, prefix, 0
        self.roles = list(roles)  # that no field has yet

    def name(self) -> str:
        self.number += 1
        return f"{self.prefix}{self.draw(_stems)}{self.number}"

    def section(self) -> dict[str, Any]:
        made = {"title": self.draw(titles), "description": self.draw(descriptions)}
        return made | {"fields": self.fields(0, None, self.draw(st.integers(0, 4)))}

    def fields(self, depth: int, values: list[str] | None, count: int) -> list[dict[str, Any]]:
        count = min(count, self.left)
        self.left -= count
        return [self.field(depth, values) for _ in range(count)]

    def field(self, depth: int, values: list[str] | None) -> dict[str, Any]:
        draw = self.draw
        field: dict[str, Any] = {"name": self.name(), "type": draw(st.sampled_from(TYPES))}
        field |= {
            "label": draw(texts),
            "required": draw(st.booleans()),
            "css": draw(st.sampled_from(WIDTHS)),
        }
        fitting = [role for role in self.roles if field["type"] in ROLES[role]]
        if values is not None:
            fitting = [role for role in fitting if role != "email"]
        if fitting and draw(st.booleans()):
            field["role"] = fitting[0]
            self.roles.remove(fitting[0])
            if field["role"] == "pool":  # a consent is free
                field["required"] = False
        own_values = {"range": list("012345"), "checkbox": ["1"]}.get(field["type"], [])
        if field["type"] == "range" and draw(st.booleans()):
            field["label"] = {"name": self.name(), "label": field["label"]}
        if field["type"] in TYPES_WITH_OPTIONS:
            own_values = draw(st.lists(texts, min_size=1, max_size=3, unique=True))
            field["options"] = [{"value": value, "label": draw(texts)} for value in own_values]
        if own_values and depth < settings.FORM_DEPTH_MAX:
            conditional = self.fields(depth + 1, own_values, draw(st.integers(0, 2)))
            if conditional:
                field["conditional"] = conditional
        if values is not None:
            field["on_value"] = draw(st.sampled_from(values))
        return field


@st.composite
def structures(
    draw: Any,
    min_sections: int = 0,
    fields_max: int = 12,
    prefix: str = "",
    roles: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Strategy of valid stored structures whose names start with `prefix`.
    Fields may have `roles`.
    """
    drawing = _Draw(draw, fields_max, prefix, roles)
    return [drawing.section() for _ in range(draw(st.integers(min_sections, 3)))]


def chain(depth: int) -> list[dict[str, Any]]:
    field: dict[str, Any] = {}
    for level in range(depth, -1, -1):
        field = {
            "name": f"level{level}",
            "type": "checkbox",
            "label": f"Level {level}",
            "required": False,
            "css": "col-12",
            **({"conditional": [field]} if field else {}),
            **({"on_value": "1"} if level else {}),
        }
    return [{"title": "Deep", "description": "", "fields": [field]}]


def text_field(name: str = "city", **values: Any) -> dict[str, Any]:
    return {
        "name": name,
        "type": "text",
        "label": "City",
        "required": False,
        "css": "col-12",
    } | values


def section(*fields: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"title": "About you", "description": "", "fields": list(fields)} | values


def specimen() -> list[dict[str, Any]]:
    """Return a structure with every kind of field, option and condition."""
    yes_no = [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}]
    explained = text_field("permit_when", on_value="no", required=True)
    languages = text_field("english", type="range", label="English", on_value="yes") | {
        "conditional": [text_field("certificate", type="file", on_value="5")]
    }
    return [
        section(
            text_field("first_name", css="col-6", required=True),
            text_field("mail", type="email"),
            text_field("permit", type="select", options=yes_no, conditional=[explained, languages]),
            description="<p>Two <strong>minutes</strong>.</p>",
        ),
        section(
            text_field(
                "other_level", type="range", label={"name": "other_language", "label": "Other"}
            ),
            text_field("licences", type="checkbox-group")
            | {
                "options": yes_no,
                "conditional": [text_field("which", type="textarea", on_value="yes")],
            },
            text_field(
                "moves",
                type="checkbox",
                conditional=[text_field("from", type="date", on_value="1")],
            ),
            text_field("shift", type="radio-group", options=yes_no),
            title="",
        ),
    ]


def served(
    structure: list[dict[str, Any]], language: str = "en", consent: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """`structure` in the words of the interface (2.9), put together by hand;
    `consent` comes last.
    """

    def field_of(field: dict[str, Any]) -> dict[str, Any]:
        name, label = field["name"], field["label"]
        if isinstance(label, dict):
            label = {"name": label["name"], "type": "text", "label": label["label"]}
        item = {key: field[key] for key in ("name", "type")} | {"label": label}
        item |= {key: field[key] for key in ("required", "css")}
        if "options" in field:
            item["options"] = [{"name": name, **option} for option in field["options"]]
        if field["type"] == "range":
            levels = enumerate(LEVELS[language])
            item["options"] = [{"name": name, "value": str(n), "label": word} for n, word in levels]
        if "conditional" in field:
            item["conditional"] = [field_of(each) for each in field["conditional"]]
        if "on_value" in field:
            item["on_value"] = field["on_value"]
        return item

    sections = []
    for each in structure:
        fields = [field_of(field) for field in each["fields"]]
        sections.append({**each, "description": each["description"] or None, "fields": fields})
    if consent:
        sections[-1]["fields"].append(consent)
    return sections


# --- One thing wrong ---------------------------------------------------------------------------

GONE: Any = type("Gone", (), {"__repr__": lambda self: "GONE"})()


@dataclass(frozen=True)
class Corruption:
    """Put `value` at `at` (GONE takes away what is there), and `fault` is
    where it has to be told.
    """

    at: tuple[Any, ...]
    value: Any
    fault: str = ""

    @property
    def path(self) -> str:
        return self.fault or ".".join(map(str, ("sections", *self.at)))

    def blames_only_its_owner(self, faults: Collection[str]) -> bool:
        """Whether all paths are those of the field or section that is spoilt, or below it."""
        ends = [
            n
            for n, key in enumerate(self.at)
            if isinstance(key, int) and self.at[n - 1] != "options"
        ]
        owner = ".".join(map(str, ("sections", *self.at[: ends[-1] + 1 if ends else 0])))
        return all(path == owner or path.startswith(f"{owner}.") for path in faults)

    def spoil(self, sections: Any) -> Any:
        if not self.at:
            return self.value
        sections = json.loads(json.dumps(sections))
        place = sections
        for key in self.at[:-1]:
            place = place[key]
        if self.value is GONE:
            del place[self.at[-1]]
        else:
            place[self.at[-1]] = self.value
        return sections


NOT_TEXT = (None, 5, True, ["x"], {"x": "y"})
NOT_ONE_LINE = ("a\x00b", "a\nb", "tab\t", "\x7f", "lone \ud800")
NOT_A_LIST = (None, "x", 5, {})
NOT_AN_OBJECT = (None, "x", 5, [])
NOT_A_NAME = ("", "1a", "_a", "a b", "a.b", "é", "a\n", "a" * 65, "privacy_consent", None, 5)
NOT_A_NAME += ("contact_me_by_fax",)


def each(at: tuple[Any, ...], values: Any) -> Iterator[Corruption]:
    return (Corruption(at, value) for value in values)


def corruptions(sections: Any, *, is_served: bool = False) -> list[Corruption]:
    """Yield each possible error in valid `sections`, stored or in the format of the API."""
    return list(_Corruptions(is_served).of(sections))


class _Corruptions:
    def __init__(self, is_served: bool) -> None:
        self.is_served = is_served
        self.names: list[str] = []

    def of(self, sections: Any) -> Any:
        yield from each((), NOT_A_LIST)
        for n, part in enumerate(sections):
            yield from self.object((n,), ("title", "description", "fields"))
            yield from self.text((n, "title"), 300, may_be_empty=True)
            texts = (
                5,
                ["x"],
                "a\x00b",
                "\ud800",
                "x" * 50_001,
                *([] if self.is_served else [None]),
            )
            yield from each((n, "description"), texts)
            yield from self.fields((n, "fields"), part["fields"], None)

    def object(self, at: tuple[Any, ...], keys: tuple[str, ...]) -> Any:
        yield from each(at, NOT_AN_OBJECT)
        for key in keys:
            yield Corruption((*at, key), GONE)
        yield Corruption((*at, "colour"), "red")

    def text(self, at: tuple[Any, ...], longest: int, *, may_be_empty: bool = False) -> Any:
        yield from each(at, (*NOT_TEXT, *NOT_ONE_LINE, "x" * (longest + 1)))
        yield from each(at, () if may_be_empty else ("", " \u2003"))

    def name(self, at: tuple[Any, ...], name: str) -> Any:
        yield from each(at, (*NOT_A_NAME, *self.names[-1:], *self.names[:1]))
        self.names.append(name)

    def fields(self, at: tuple[Any, ...], fields: Any, values: list[str] | None) -> Any:
        yield from each(at, NOT_A_LIST)
        for n, field in enumerate(fields):
            yield from self.field((*at, n), field, values)

    def field(self, at: tuple[Any, ...], field: Any, values: list[str] | None) -> Any:
        has_options, type_ = field["type"] in TYPES_WITH_OPTIONS, field["type"]
        keys = ("name", "type", "label", "required", "css")
        yield from self.object(at, (*keys, "on_value") if values is not None else keys)
        yield from self.name((*at, "name"), field["name"])
        yield from each((*at, "type"), ("password", "Text", None, 5, ["text"]))
        yield from each((*at, "css"), ("col-5", "", None, 12, {"width": 6}))
        yield from each((*at, "required"), ("yes", 1, 0, None))
        yield from self.label(at, field)
        others = ("1",) if values is None else ("no such value", 1, None, [values[0]])
        yield from each((*at, "on_value"), others)
        option = {"name": field["name"]} if self.is_served else {}
        if has_options:
            yield from self.options(at, field)
        elif type_ == "range" and self.is_served:
            yield from self.levels(at, field)
        else:
            yield from each((*at, "options"), ([{**option, "value": "x", "label": "X"}], []))
        own_values = [option["value"] for option in field.get("options", ())]
        own_values = own_values or {"range": list("012345"), "checkbox": ["1"]}.get(type_, [])
        if "conditional" in field:
            yield from self.fields((*at, "conditional"), field["conditional"], own_values)
        else:
            others = NOT_A_LIST if own_values else ([text_field("never_there", on_value="1")], [])
            yield from each((*at, "conditional"), others)

    def label(self, at: tuple[Any, ...], field: Any) -> Any:
        at, label = (*at, "label"), field["label"]
        more = {"type": "text"} if self.is_served else {}
        requested = {"name": "never_there_before", "label": "X"} | more
        if isinstance(label, dict):
            yield from each(at, (None, 5, [], "", " "))
            for key, value in (("name", GONE), ("label", GONE), ("colour", "red")):
                yield Corruption((*at, key), value)
            yield from self.name((*at, "name"), label["name"])
            yield from self.text((*at, "label"), 2_000)
            yield from each(
                (*at, "type"), (GONE, "textarea", None) if self.is_served else ("text",)
            )
        else:
            yield from each(at, (None, 5, [], "", "\u00a0", "a\nb", "x" * 2_001))
            if field["type"] != "range":
                yield Corruption(at, requested)

    def options(self, at: tuple[Any, ...], field: Any) -> Any:
        at = (*at, "options")
        yield Corruption(at, GONE)
        yield from each(at, (*NOT_A_LIST, []))
        keys = ("name", "value", "label") if self.is_served else ("value", "label")
        for n in range(len(field["options"])):
            yield from self.object((*at, n), keys)
            yield from self.text((*at, n, "value"), 200)
            yield from self.text((*at, n, "label"), 2_000)
            if n:
                yield Corruption((*at, n, "value"), field["options"][0]["value"])
            names = ("another_field", None, 5) if self.is_served else (field["name"],)
            yield from each((*at, n, "name"), names)

    def levels(self, at: tuple[Any, ...], field: Any) -> Any:
        at = (*at, "options")
        path = ".".join(map(str, ("sections", *at)))
        for value in (GONE, *NOT_A_LIST, [], field["options"][:5], field["options"][::-1]):
            yield Corruption(at, value, path)
        for value in ("6", 2, GONE):
            yield Corruption((*at, 2, "value"), value, path)
        yield Corruption((*at, 2), "2")
        for key, value in (("label", GONE), ("label", 5), ("colour", "red")):
            yield Corruption((*at, 2, key), value, f"{path}.2")
        yield Corruption((*at, 2, "name"), "another_field")

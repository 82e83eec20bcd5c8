"""The differences between two contents of a vacancy, by field and word, as HTML."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from difflib import SequenceMatcher
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from jobsite.languages import text_languages
from jobsite.text.formats import format_date, format_datetime
from jobsite.text.html import sanitise, text_lines
from jobsite.text.iso_names import country_name, language_name
from vacancies.choices import Keyword
from vacancies.fields import HtmlField
from vacancies.models import TRANSLATED, Filter, Vacancy, text_field, text_fields

LINES_AROUND = 1  # unchanged lines shown beside changed ones
MAX_PAIRS = 1_000_000  # pairs of lines or words; a larger field is shown in full, before and after
# Share of unchanged words below which a line is shown in full, before and after.
MIN_SHARED_WORDS = 0.4
LISTS = ("places", "remote_countries", "recruiters", "attachments")
_WORDS = re.compile(r"(\w+|[^\w\s])(\s*)")


@dataclass(frozen=True)
class Difference:
    """A field that changed: its label, and its new text with <ins> and <del>."""

    name: str
    label: str
    marked: SafeString


def differences(
    before: Mapping[str, object],
    after: Mapping[str, object],
    labels: Mapping[str, str] | None = None,
) -> list[Difference]:
    """Return the fields of `after` that differ from `before`, in the order of the page. Two empty
    values are equal. Pass `field_labels()` as `labels` to save a query per call.
    """
    labels = labels or field_labels()
    found = []
    for name in labels:
        if name not in after or before.get(name) == after[name]:
            continue
        old, new = lines(name, before.get(name)), lines(name, after[name])
        if old != new:
            found.append(Difference(name, labels[name], marked(old, new)))
        elif (before.get(name) or "") == (after[name] or ""):
            continue
        elif isinstance(_field(name), HtmlField):
            note = format_html("<i>{}</i>", _("Only the formatting changed."))
            found.append(Difference(name, labels[name], note))
        elif name in ("image", "attachments"):
            note = format_html("<i>{}</i>", _("The file was replaced."))
            found.append(Difference(name, labels[name], note))
    return found


def field_values(values: Mapping[str, object]) -> list[Difference]:
    """Return the fields of `values` that are not empty, without marks."""
    labels = field_labels()
    texts = ((name, lines(name, values[name])) for name in labels if name in values)
    found = ((name, _formatted(name, values[name], text)) for name, text in texts if text)
    return [Difference(name, labels[name], text) for name, text in found]


def _formatted(name: str, value: Any, texts: list[str]) -> SafeString:
    """Return HTML as the public sees it.
    A content is JSON, not a column that is sanitised when written.
    """
    return SafeString(sanitise(value)) if isinstance(_field(name), HtmlField) else _as_lines(texts)


def field_labels() -> dict[str, str]:
    """Return the labels of the fields of a content, by name, in the order of the page."""
    vocabularies = dict(Filter.objects.values_list("keyword", "label"))
    labels = {
        field.name: str(capfirst(field.verbose_name)) for field in Vacancy._meta.concrete_fields
    } | {keyword.value: vocabularies.get(keyword.value, str(keyword.label)) for keyword in Keyword}
    return labels | {
        "places": _("Places"),
        "remote_countries": _("Countries for remote work"),
        "recruiters": _("Other recruiters"),
        "attachments": _("Attachments"),
        **{text_field(code): str(capfirst(language_name(code))) for code in text_languages()},
    }


def _field(name: str) -> Any:
    is_list = name in Keyword.values or name in LISTS or name in text_fields()
    return None if is_list else Vacancy._meta.get_field(name)


def lines(name: str, value: Any) -> list[str]:
    """Return the value of the field `name` as lines of text; none if it is empty."""
    field = _field(name)
    if value is None or value == "" or value == []:
        return []
    if isinstance(value, list):
        return _lines_of_rows(name, value)
    if isinstance(value, dict):
        return [*_lines_of_texts(value)]
    if isinstance(field, HtmlField):
        return text_lines(value)
    if isinstance(value, bool):
        return [] if value == field.default else [_("Yes") if value else _("No")]
    if name == "image":
        return [_("Uploaded image")]
    if field.choices:
        return [str(dict(field.flatchoices).get(value, value))]
    if field.get_internal_type() == "DateTimeField":
        return [format_datetime(datetime.fromisoformat(value))]
    if field.get_internal_type() == "DateField":
        return [format_date(date.fromisoformat(value))]
    return str(value).splitlines()


def _lines_of_texts(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a language, each after its label, and whether they are ready."""
    yield _("Ready") if value["is_ready"] else _("Not ready")
    for name in TRANSLATED:
        if text := value["texts"].get(name):
            yield f"{capfirst(Vacancy._meta.get_field(name).verbose_name)}:"  # type: ignore[union-attr]
            yield from lines(name, text)


def _lines_of_rows(name: str, rows: list[Any]) -> list[str]:
    match name:
        case "attachments":
            return [
                f"{each['name']} ({each['url']})" if each["url"] else each["name"] for each in rows
            ]
        case "places":
            return [place_text(each) for each in rows]
        case "remote_countries":  # not in the language of the user who saved it
            return [country_name(code) for code, _name in rows]
    return [label for _, label in rows] if isinstance(rows[0], list) else [rows[1]]


def place_text(place: Mapping[str, Any]) -> str:
    """Return a place of a content as one line: "Kaai 1, 2000 Antwerp, Belgium (51.2, 4.4)"."""
    text = address_text(place)
    return (
        text if place["latitude"] is None else f"{text} ({place['latitude']}, {place['longitude']})"
    )


def address_text(place: Mapping[str, Any]) -> str:
    """Return the same without the coordinates."""
    city = " ".join(filter(None, (place["postal_code"], place["locality"])))
    country = country_name(place["country"])
    return ", ".join(filter(None, (place["street"], city, place["region"], country)))


def marked(old: list[str], new: list[str]) -> SafeString:
    """Return `new` as HTML lines with removed text in <del> and added text in <ins>. Long unchanged
    passages become an ellipsis.
    """
    return _as_lines(_lines(old, new))


def _as_lines(texts: Iterable[str]) -> SafeString:
    return format_html_join("", "<div>{}</div>", ((text,) for text in texts))


class _Comparison:
    """Compares lists until `MAX_PAIRS` pairs have been compared.
    Later lists are replaced as a whole.
    """

    def __init__(self) -> None:
        self.left = MAX_PAIRS

    def opcodes(self, a: list[str], b: list[str]) -> list[tuple[str, int, int, int, int]]:
        """Return the opcodes of SequenceMatcher that turn `a` into `b`.
        Equal ends are not compared.
        """
        shorter = min(len(a), len(b))
        head = next((n for n in range(shorter) if a[n] != b[n]), shorter)
        rest = shorter - head
        tail = next((n for n in range(rest) if a[-1 - n] != b[-1 - n]), rest)
        old, new = a[head : len(a) - tail], b[head : len(b) - tail]
        self.left -= len(old) * len(new)
        if self.left > 0:
            codes = SequenceMatcher(None, old, new).get_opcodes()
        else:
            codes = [("replace", 0, len(old), 0, len(new))]
        found = [("equal", 0, head, 0, head)] if head else []
        found += [
            (kind, i + head, i_to + head, j + head, j_to + head) for kind, i, i_to, j, j_to in codes
        ]
        if tail:
            found.append(("equal", len(a) - tail, len(a), len(b) - tail, len(b)))
        return found


def _lines(old: list[str], new: list[str]) -> Iterator[SafeString]:
    comparison = _Comparison()
    for kind, i, i_end, j, j_end in comparison.opcodes(old, new):
        if kind == "equal":
            same = [format_html("{}", line) for line in new[j:j_end]]
            if len(same) > 2 * LINES_AROUND + 1:
                head = same[:LINES_AROUND] if i or j else []
                tail = same[-LINES_AROUND:] if i_end < len(old) or j_end < len(new) else []
                same = [*head, format_html("{}", "\u2026"), *tail]
            yield from same
            continue
        removed, added = old[i:i_end], new[j:j_end]
        paired = min(len(removed), len(added))
        for one, other in zip(removed[:paired], added[:paired], strict=True):
            yield _words(one, other, comparison)
        for line in removed[paired:]:
            yield format_html("<del>{}</del>", line)
        for line in added[paired:]:
            yield format_html("<ins>{}</ins>", line)


def _words(old: str, new: str, comparison: _Comparison) -> SafeString:
    """Mark the changed words of a line; show both lines in full if few words are unchanged."""
    a, b = _WORDS.findall(old), _WORDS.findall(new)  # compare words without their spaces
    codes = comparison.opcodes([word for word, _ in a], [word for word, _ in b])
    unchanged = sum(i_end - i for kind, i, i_end, _, _ in codes if kind == "equal")
    if 2 * unchanged < MIN_SHARED_WORDS * (len(a) + len(b)) or unchanged == len(a) == len(b):
        return format_html("<del>{}</del> <ins>{}</ins>", old, new)
    parts: list[str] = []
    for place, (kind, i, i_end, j, j_end) in enumerate(codes):
        removed, added = ("".join(map("".join, words)) for words in (a[i:i_end], b[j:j_end]))
        after = codes[place + 1][0] if place + 1 < len(codes) else kind
        spaced = {"delete": removed, "insert": added}.get(
            after if kind == "equal" else kind, removed + added
        )
        if kind == "equal":
            parts.append(format_html("{}", added.rstrip()))
        else:
            marks = [("del", removed.rstrip()), ("ins", added.rstrip())]
            parts += [format_html(f"<{tag}>{{}}</{tag}>", text) for tag, text in marks if text]
        parts.append(" " if spaced[-1:].isspace() else "")
    return format_html_join("", "{}", ((part,) for part in parts))

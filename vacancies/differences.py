"""What changed between two contents of a vacancy, for people: field by field, word by word."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from jobsite.html import text_lines
from jobsite.workplace import moment
from vacancies.fields import HtmlField
from vacancies.models import Filter, Vacancy
from vacancies.vocabulary import Keyword

LINES_AROUND = 1  # unchanged lines shown beside changed ones
COMPARED = 4_000_000  # pairs of words: a longer paragraph is shown as a whole, before and after
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class Difference:
    """A field that changed: its label, and its new text with what was added and taken away marked."""

    name: str
    label: str
    marked: SafeString


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return the fields of `after` that `before` says otherwise, in the order of the page; what is empty
    in both is no difference."""
    labels = field_labels()
    found = []
    for name in labels:
        if name not in after:
            continue
        old, new = lines(name, before.get(name)), lines(name, after[name])
        if old != new:
            found.append(Difference(name, labels[name], marked(old, new)))
        elif (before.get(name) or "") != (after[name] or "") and isinstance(_field(name), HtmlField):
            note = format_html("<i>{}</i>", _("The words are the same, their markup is another."))
            found.append(Difference(name, labels[name], note))
    return found


def described(values: Mapping[str, Any]) -> list[Difference]:
    """Return the fields of `values` that say something, with nothing marked."""
    labels = field_labels()
    said = ((name, lines(name, values[name])) for name in labels if name in values)
    return [Difference(name, labels[name], _as_lines(text)) for name, text in said if text]


def field_labels() -> dict[str, str]:
    """The labels of the parts of a content, by name, in the order of the page."""
    vocabularies = dict(Filter.objects.values_list("keyword", "label"))
    labels = {field.name: str(capfirst(field.verbose_name)) for field in Vacancy._meta.concrete_fields} | {
        keyword.value: vocabularies.get(keyword.value, str(keyword.label)) for keyword in Keyword
    }
    return labels | {"recruiters": _("Other recruiters"), "attachments": _("Attachments")}


def _field(name: str) -> Any:
    is_list = name in Keyword.values or name in ("recruiters", "attachments")
    return None if is_list else Vacancy._meta.get_field(name)


def lines(name: str, value: Any) -> list[str]:
    """Return the value of the part `name` as lines of text, none where it says nothing."""
    field = _field(name)
    if value is None or value == "" or value == []:
        return []
    if isinstance(field, HtmlField):
        return text_lines(value)
    if isinstance(value, bool):
        return [_("Yes")] if value else []
    if name == "attachments":
        return [f"{each['name']} ({each['file'] or each['url']})" for each in value]
    if isinstance(value, list):
        return [label for _, label in value] if isinstance(value[0], list) else [value[1]]
    if field.choices:
        return [str(dict(field.flatchoices).get(value, value))]
    if field.get_internal_type() == "DateTimeField":
        return [moment(datetime.fromisoformat(value))]
    return str(value).splitlines()


def marked(old: list[str], new: list[str]) -> SafeString:
    """Return `new` as HTML lines, what `old` had in <del>, what it had not in <ins>, long unchanged
    stretches as an ellipsis."""
    return _as_lines(_lines(old, new))


def _as_lines(texts: Iterable[str]) -> SafeString:
    return format_html_join("", "<div>{}</div>", ((text,) for text in texts))


def _lines(old: list[str], new: list[str]) -> Iterator[SafeString]:
    for kind, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            same = [format_html("{}", line) for line in new[j:j_end]]
            if len(same) > 2 * LINES_AROUND + 1:
                head = same[:LINES_AROUND] if i else []
                tail = same[-LINES_AROUND:] if i_end < len(old) or j_end < len(new) else []
                same = [*head, format_html("{}", "\u2026"), *tail]
            yield from same
            continue
        gone, came = old[i:i_end], new[j:j_end]
        paired = min(len(gone), len(came))
        for one, other in zip(gone[:paired], came[:paired], strict=True):
            yield _words(one, other)
        for line in gone[paired:]:
            yield format_html("<del>{}</del>", line)
        for line in came[paired:]:
            yield format_html("<ins>{}</ins>", line)


def _words(old: str, new: str) -> SafeString:
    """One line that became another, word by word; as a whole where little stayed."""
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if len(a) * len(b) > COMPARED or matcher.ratio() < 0.4:
        return format_html("<del>{}</del> <ins>{}</ins>", old, new)
    parts = []
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        gone, came = "".join(a[i:i_end]), "".join(b[j:j_end])
        if kind == "equal":
            parts.append(format_html("{}", came))
            continue
        if gone:
            parts.append(format_html("<del>{}</del>", gone))
        if came:
            parts.append(format_html("<ins>{}</ins>", came))
    return format_html_join("", "{}", ((part,) for part in parts))

"""Conversion of the HTML texts of an item that another system sends."""

from collections.abc import Iterable, Iterator

from jobsite.text.html import LENGTH_MAX
from jobsite.text.html_conversion import convert, is_escaped, unescaped
from jobsite.types import JsonObject
from vacancies.exchange.fields import Remark
from vacancies.exchange.serializers import TEXTS

Place = tuple[JsonObject, str, str]  # an object, the key of the text in it, and its path


def convert_texts(
    item: JsonObject, changes: list[Remark], escaped: str = "", more: Iterable[Place] = ()
) -> Iterator[Remark]:
    """Convert the texts of `item` and those in `more`, and add what was altered to `changes`. Yield
    the errors: `escaped` is that of HTML which is escaped, "" to convert it too.
    """
    places = [*((item, name, name) for name in TEXTS), *more]
    for code, texts in (item.get("translations") or {}).items():
        places += [(texts or {}, name, f"translations.{code}.{name}") for name in TEXTS]
    for values, name, path in places:
        text = values.get(name) or ""
        if len(text) > LENGTH_MAX:
            message = f"Has {len(text)} characters; at most {LENGTH_MAX} are allowed."
            yield Remark(path, "too_long", message)
        elif escaped and is_escaped(text):
            yield Remark(path, "escaped_html", escaped)
        elif name in values:
            values[name], alterations = convert(text if escaped else unescaped(text))
            changes += (Remark(path, each.code, each.message) for each in alterations)

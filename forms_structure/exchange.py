"""Forms in the JSON of the API (2.9): parsing and comparison."""

import hashlib
import json

from django.utils import translation
from django.utils.translation import gettext

from forms_structure import structure
from forms_structure.choices import LEVELS, FieldType, Language
from forms_structure.structure import CONSENT, Structure, StructureError, format_value
from jobsite.text.html_conversion import (
    Alteration,
    convert,
    is_escaped,
    unescaped,
    without_entities,
)
from jobsite.types import JsonObject

CONSENT_KEYS = {"name", "type", "label", "required", "css", "link", "version"}


class ParsedForm:
    """A form parsed from `data`, an array of sections in the format of the API.

    `structure` is the form as it is stored, without its consent box: ours replaces it
    (docs/decisions.md #38). `has_consent` states whether there was one, and `consent` is its label.
    `language` is the language of its range options, or None if it has no ranges. `notes` describes
    what was changed; `changes` has the alterations of descriptions by path.

    `consent_name` is the name of the consent box in the source. `unescape` converts descriptions
    whose HTML is escaped; without it, they are errors. Raise StructureError with all errors by
    path.
    """

    def __init__(
        self, data: object, *, consent_name: str = CONSENT, unescape: bool = False
    ) -> None:
        self.unescape = unescape
        self.has_consent = False
        self.consent: object = None
        self.notes: list[str] = []
        self.changes: list[tuple[str, Alteration]] = []
        self._faults: dict[str, str] = {}
        self._levels: set[tuple[str, ...]] = set()
        sections = self._sections(data, consent_name)
        try:
            self.structure: Structure = structure.clean(sections)
        except StructureError as error:
            self._faults = {**error.faults, **self._faults}
        if self._faults:
            raise StructureError(self._faults)
        if self.has_consent and self._is_generated():
            self.structure = []
        self.language = self._language()

    def _sections(self, data: object, consent_name: str) -> object:
        if not isinstance(data, list):
            return data
        sections = [self._section(item, f"sections.{n}") for n, item in enumerate(data)]
        last = sections[-1] if sections else None
        fields = last.get("fields") if isinstance(last, dict) else None
        if isinstance(fields, list) and fields:
            self._take_consent(fields, consent_name, f"sections.{len(sections) - 1}.fields")
        return sections

    def _take_consent(self, fields: list[object], name: str, path: str) -> None:
        """Remove the consent box `name` from the `fields` of the last section, if it is the last
        of them.
        """
        last = fields[-1]
        if not isinstance(last, dict) or last.get("name") != name:
            return
        if last.get("type") != FieldType.CHECKBOX or last.get("required") is not True:
            text = "The consent must be a required checkbox."
            self._faults[f"{path}.{len(fields) - 1}"] = text
        fields.pop()
        self.has_consent, self.consent = True, last.get("label")
        self.notes += (
            f"the key {key} of the consent box was ignored: ours has no such key"
            for key in sorted(last.keys() - CONSENT_KEYS)
        )

    def _is_generated(self) -> bool:
        """Whether it is the generated form of a vacancy without a form, in any of our languages."""
        titles = []
        for language in Language.values:
            with translation.override(language):
                titles.append(gettext("Privacy"))
        bare = [{"title": title, "description": "", "fields": []} for title in titles]
        return len(self.structure) == 1 and self.structure[0] in bare

    def _section(self, item: object, path: str) -> object:
        if not isinstance(item, dict):
            return item
        section = self._with_line(item, "title", path)
        if "description" in section and section["description"] is None:
            section["description"] = ""
        if isinstance(section.get("description"), str):
            section["description"] = self._description(
                section["description"], f"{path}.description"
            )
        if isinstance(section.get("fields"), list):
            section["fields"] = [
                self._field(field, f"{path}.fields.{n}")
                for n, field in enumerate(section["fields"])
            ]
        return section

    def _description(self, text: str, path: str) -> str:
        if structure.NO_TEXT.search(text):
            return text  # refused by structure.clean()
        if is_escaped(text):
            if not self.unescape:
                self._faults[path] = (
                    "Contains escaped HTML such as &lt;p&gt;; pass --unescape-html to convert it."
                )
                return text
            text = unescaped(text)
        clean, alterations = convert(text)
        self.changes += ((path, alteration) for alteration in alterations)
        return str(clean)

    def _field(self, item: object, path: str, depth: int = 0) -> object:
        if not isinstance(item, dict):
            return item
        field = self._with_line(item, "label", path)
        if isinstance(field.get("label"), dict):
            field["label"] = self._label_input(field["label"], f"{path}.label")
        is_range = field.get("type") == FieldType.RANGE
        if isinstance(field.get("options"), list):
            options = [
                self._option(option, f"{path}.options.{n}", field)
                for n, option in enumerate(field["options"])
            ]
            if is_range:
                del field["options"]
                self._range(options, path)
            else:
                field["options"] = options
        elif is_range:
            self._faults[f"{path}.options"] = "Must be the list of levels."
        # structure.clean() refuses this depth.
        if isinstance(field.get("conditional"), list) and depth < 100:
            field["conditional"] = [
                self._field(each, f"{path}.conditional.{n}", depth + 1)
                for n, each in enumerate(field["conditional"])
            ]
        return field

    def _label_input(self, item: JsonObject, path: str) -> JsonObject:
        label = self._with_line(item, "label", path)
        if label.get("type") != FieldType.TEXT:
            text = f"Must be text; received {format_value(label.get('type'))}."
            self._faults[f"{path}.type"] = text
        return {key: value for key, value in label.items() if key != "type"}

    def _option(self, item: object, path: str, field: JsonObject) -> object:
        if not isinstance(item, dict):
            return item
        if item.get("name") != field.get("name"):
            self._faults[f"{path}.name"] = (
                f"Must be the name of its field, {format_value(field.get('name'))}; received "
                f"{format_value(item.get('name'))}."
            )
        option = self._with_line(item, "label", path)
        return {key: value for key, value in option.items() if key != "name"}

    def _with_line(self, item: JsonObject, key: str, path: str) -> JsonObject:
        """Return `item` with the text at `key` without HTML entities."""
        text = item.get(key)
        plain = without_entities(text) if isinstance(text, str) else text
        if plain != text:
            note = f"converted HTML entities; received {format_value(text)}"
            self.changes.append((f"{path}.{key}", Alteration("html_entities", note)))
        return item | {key: plain} if key in item else dict(item)

    def _range(self, options: list, path: str) -> None:
        values = [option.get("value") if isinstance(option, dict) else option for option in options]
        if values != list(LEVELS):
            self._faults[f"{path}.options"] = (
                f'Must have the values "0" to "5" in order; received {format_value(values)}.'
            )
            return
        labels: list[str] = []
        for number, option in enumerate(options):
            is_level = isinstance(option, dict) and option.keys() == {"value", "label"}
            label = option["label"] if is_level else None
            if not isinstance(label, str):
                self._faults[f"{path}.options.{number}"] = (
                    f"Must have name, value and label; received {format_value(option)}."
                )
                return
            labels.append(label)
        self._levels.add(tuple(labels))

    def _language(self) -> str | None:
        if not self._levels:
            return None
        for language in Language.values:
            if self._levels == {level_labels(language)}:
                return language
        for labels in sorted(self._levels):
            self.notes.append(f"the level labels {', '.join(labels)} were replaced by ours")
        return None


def level_labels(language: str) -> tuple[str, ...]:
    """Return the labels of the levels of a range in `language`."""
    with translation.override(language):
        return tuple(str(label) for label in LEVELS.values())


def digest(value: object) -> str:
    """Return a short hash of JSON data."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]

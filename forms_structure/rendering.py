"""The HTML of a form on the server: the same markup as form.js
(static/forms_structure/form/render.js).

It works without JavaScript. All conditional fields are visible then, each group below the answer
that it depends on, and `submitted` leaves out what was filled in where the condition does not hold.
"""

from collections.abc import Iterable, Mapping

from django.core.files.uploadedfile import UploadedFile
from django.forms.utils import flatatt
from django.utils import translation
from django.utils.translation import gettext, pgettext

from forms_structure.choices import CHECKED, FieldType
from forms_structure.structure import HONEYPOT
from jobsite.fields import web_url
from jobsite.types import JsonObject

FILE_MAX = 10  # megabytes
ACCEPTED = ".pdf,.docx,.odt,.rtf,.txt,.jpg,.jpeg,.png"
# Autocomplete tokens (WCAG 1.3.5) by role, else by common field names, else by type. form/fields.js
# has the same without roles, which applicants do not get.
_NAMES = {
    "given-name": "given_name first_name voornaam prenom vorname",
    "family-name": (
        "family_name last_name achternaam familienaam nom_de_famille nachname familienname"
    ),
    "name": "name naam nom",  # the family name beside a given name
    "address-line1": "address adres adresse anschrift",
    "postal-code": "postal_code postcode code_postal postleitzahl plz",
    "address-level2": "city stad gemeente woonplaats ville ort wohnort",
    "country-name": "country land pays",
    "bday": "birth_date date_of_birth geboortedatum date_de_naissance geburtsdatum",
    "tel": "phone telephone mobile telefoon telefoonnummer gsm portable numero_de_telephone "
    "telefon telefonnummer handy",
    "email": "email",
}
AUTOCOMPLETE = {name: token for token, names in _NAMES.items() for name in names.split()}
AUTOCOMPLETE_BY_TYPE = {FieldType.EMAIL: "email", FieldType.TEL: "tel"}
GROUPS = (FieldType.CHECKBOX_GROUP, FieldType.RADIO_GROUP, FieldType.RANGE)
INPUT_TYPES = (FieldType.EMAIL, FieldType.TEL, FieldType.DATE, FieldType.FILE)
Fields = list[JsonObject]


def form_context(
    sections: Fields,
    *,
    language: str,
    roles: Mapping[str, str] | None = None,
    typed: Mapping[str, list[str]] | None = None,
    errors: Iterable[tuple[str, str]] = (),
) -> JsonObject:
    """Return the context of templates/forms_structure/form.html for served `sections`.

    `roles` has the name of the field with each role, for `autocomplete`. `typed` has what was
    filled in, by field name. `errors` are (name of a field or "", message), at most one for each
    field. They are listed in the order of the form.
    """
    errors = list(errors)
    with translation.override(language):
        page = _Page(sections, roles or {}, typed or {}, dict(errors))
        shown = [
            {
                "title": section["title"],
                "description": section["description"] or "",  # sanitised when it was written
                "fields": page.fields(section["fields"]),
            }
            for section in sections
        ]
        return {
            "sections": shown,
            "language": language,
            "honeypot": HONEYPOT,
            "is_asking": any(field["required"] for field in page.by_name.values()),
            "errors": [
                {"message": message, "name": name, "field": page.by_name.get(name)}
                for name, message in page.in_order(errors)
            ],
        }


class _Page:
    """Prepares the fields of one form for the templates."""

    def __init__(
        self,
        sections: Fields,
        roles: Mapping[str, str],
        typed: Mapping[str, list[str]],
        errors: Mapping[str, str],
    ) -> None:
        self.typed, self.errors = typed, errors
        self.roles = {name: role for role, name in roles.items()}
        names = [field["name"] for section in sections for field in section["fields"]]
        self.has_given_name = any(AUTOCOMPLETE.get(name) == "given-name" for name in names)
        self.by_name: dict[str, JsonObject] = {}

    def in_order(self, errors: list[tuple[str, str]]) -> list[tuple[str, str]]:
        places = {name: place for place, name in enumerate(self.by_name)}
        return sorted(errors, key=lambda error: places.get(error[0], len(places)))

    def fields(self, structures: Fields) -> Fields:
        return [self.field(each) for structure in structures for each in _spelled_out(structure)]

    def field(self, structure: JsonObject) -> JsonObject:
        name, type_ = structure["name"], structure["type"]
        error = self.errors.get(name, "")
        hint = _file_hint() if type_ == FieldType.FILE else ""
        described = [self.id("error", name)] if error else []
        described += [self.id("hint", name)] if hint else []
        about = {
            "aria-describedby": " ".join(described) or False,
            "aria-invalid": "true" if error else False,
        }
        own = {"id": self.id("field", name), "name": name, "required": structure["required"]}
        field = {
            "name": name,
            "id": own["id"],
            "label": structure["label"],
            "required": structure["required"],
            "css": structure["css"],
            "error": error,
            "error_id": self.id("error", name),
            "hint": hint,
            "hint_id": self.id("hint", name),
            "link": _safe(structure.get("link")),
        }
        self.by_name[name] = field
        if type_ == FieldType.CHECKBOX:
            field["kind"] = "checkbox"
            is_checked = CHECKED in self.typed.get(name, ())
            own |= {"type": "checkbox", "value": CHECKED, "checked": is_checked}
            field["attributes"] = flatatt(own | about)
        elif type_ in GROUPS:
            field |= self.group(structure, about)
        else:
            field |= self.control(structure, own | about)
        field["runs"] = self.runs(structure)
        return field

    def group(self, structure: JsonObject, about: JsonObject) -> JsonObject:
        """Return what differs for radio buttons and checkboxes."""
        name, type_, is_required = structure["name"], structure["type"], structure["required"]
        is_many = type_ == FieldType.CHECKBOX_GROUP
        options = list(structure.get("options", ()))
        if not is_many and not is_required:
            # a chosen radio button cannot be cleared
            options.append({"value": "", "label": pgettext("a field", "No answer")})
        chosen = self.typed.get(name) or ([] if is_many else [""])
        invalid = {"aria-invalid": about["aria-invalid"]}
        group = {"class": f"job-form-{type_}", "aria-describedby": about["aria-describedby"]}
        if is_many:
            kind, of_option = "checkbox", invalid
        else:
            kind, of_option = "radio", {}
            required = "true" if is_required else False
            group |= {"role": "radiogroup", "aria-required": required} | invalid
        shown = []
        for number, option in enumerate(options):
            id_ = self.id(f"choice{number}" if number else "field", name)
            own = {"id": id_, "name": name, "type": kind, "value": option["value"]}
            own |= {"checked": option["value"] in chosen} | of_option
            shown.append({"id": id_, "label": option["label"], "attributes": flatatt(own)})
        return {
            "kind": "group",
            "attributes": flatatt(group),
            "is_spoken": is_many and is_required,
            "options": shown,
        }

    def control(self, structure: JsonObject, own: JsonObject) -> JsonObject:
        """Return what differs for a drop-down list, and for a field to type in."""
        name, type_ = structure["name"], structure["type"]
        typed = (self.typed.get(name) or [""])[-1]
        own["autocomplete"] = self.autocomplete(name, type_)
        if type_ == FieldType.SELECT:
            options = [{"value": "", "label": gettext("Choose…")}, *structure["options"]]
            return {
                "kind": "select",
                "attributes": flatatt(own),
                "options": [
                    {**each, "is_chosen": typed and each["value"] == typed} for each in options
                ],
            }
        if type_ == FieldType.TEXTAREA:
            return {"kind": "textarea", "attributes": flatatt(own | {"rows": "5"}), "value": typed}
        own["type"] = type_ if type_ in INPUT_TYPES else "text"
        if type_ == FieldType.DATE:
            own["max"] = "9999-12-31"  # otherwise browsers accept years of six digits
        if type_ == FieldType.FILE:
            own["accept"] = ACCEPTED
        elif typed:
            own["value"] = typed
        return {"kind": "input", "attributes": flatatt(own)}

    def autocomplete(self, name: str, type_: FieldType) -> str | bool:
        token = AUTOCOMPLETE.get(
            self.roles.get(name) or name, AUTOCOMPLETE_BY_TYPE.get(type_, False)
        )
        return "family-name" if token == "name" and self.has_given_name else token

    @staticmethod
    def id(kind: str, name: str) -> str:
        return f"job-form-0-{kind}-{name}"

    def runs(self, owner: JsonObject) -> Fields:
        """Return the conditional fields of `owner`:
        one group for each run with the same `on_value`.
        """
        runs: list[Fields] = []
        for each in owner.get("conditional", ()):
            if runs and runs[-1][0]["on_value"] == each["on_value"]:
                runs[-1].append(each)
            else:
                runs.append([each])
        return [
            {"condition": _condition(owner, run[0]), "fields": self.fields(run)} for run in runs
        ]


def _spelled_out(structure: JsonObject) -> Fields:
    """Return the inputs of a field. An extra language has two:
    the name of the language and the level.
    """
    label = structure["label"]
    if not isinstance(label, dict):
        return [structure]
    level = gettext("%(language)s: level") % {"language": label["label"]}
    name = {"name": label["name"], "type": FieldType.TEXT, "label": label["label"]}
    return [
        {key: structure[key] for key in ("required", "css")} | name,
        {**structure, "label": level},
    ]


def _condition(owner: JsonObject, field: JsonObject) -> str:
    """Return when to fill in `field`, in words."""
    if owner["type"] == FieldType.CHECKBOX:
        return gettext("Only if you ticked “%(question)s”") % {"question": owner["label"]}
    labels = {option["value"]: option["label"] for option in owner.get("options", ())}
    answer = labels.get(field["on_value"], field["on_value"])
    text = gettext("Only if you chose “%(answer)s” for “%(question)s”")
    return text % {"answer": answer, "question": owner["label"]}


def _safe(link: dict[str, str] | None) -> dict[str, str] | None:
    """Return `link` unless it could run a script: raw SQL bypasses the models."""
    return link if link and web_url(link["url"]) else None


def _file_hint() -> str:
    return gettext("PDF, DOCX, ODT, RTF, TXT, JPEG or PNG, at most %(size)s MB.") % {
        "size": FILE_MAX
    }


def submitted(
    sections: Fields, typed: Mapping[str, list[str]], files: Mapping[str, UploadedFile]
) -> tuple[JsonObject, JsonObject]:
    """Return (values, files) as a submission has them (docs/api.md), from a posted HTML form.

    Fields whose condition does not hold are left out. What the form does not have is kept, because
    validation reports it: the form was edited while it was filled in.
    """
    values: JsonObject = {}
    chosen: JsonObject = {}
    known: set[str] = set()

    def read(fields: Fields, *, is_shown: bool) -> None:
        for structure in fields:
            for each in _spelled_out(structure):
                known.add(each["name"])
                if is_shown:
                    take(each)
            answer = values.get(structure["name"], [])
            for inner in structure.get("conditional", ()):
                is_open = is_shown and inner["on_value"] in (
                    answer if isinstance(answer, list) else [answer]
                )
                read([inner], is_shown=is_open)

    def take(field: JsonObject) -> None:
        name, type_ = field["name"], field["type"]
        given = [text for text in typed.get(name, ()) if text]
        if type_ == FieldType.FILE and name in files:
            values[name], chosen[name] = files[name].name, files[name]
        elif type_ == FieldType.CHECKBOX_GROUP and given:
            values[name] = given
        elif given and (text := given[-1] if field.get("options") else _trimmed(given[-1])):
            values[name] = text

    for section in sections:
        read(section["fields"], is_shown=True)
    for name, texts in typed.items():
        if name not in known and any(texts):
            values[name] = texts[-1]
    for name, file in files.items():
        if name not in known:
            values[name] = file.name
    return values, chosen


def _trimmed(text: str) -> str:
    """Return `text` as form.js sends it. Browsers post line breaks as CR LF."""
    return text.replace("\r\n", "\n").strip()

"""OpenAPI schemas of the keys of a form."""

from forms_structure.choices import FieldType, Width
from forms_structure.schema import DIALECT, submission_schema
from forms_structure.structure import CONSENT, NAME
from jobsite.api.openapi import ADDRESS, EXAMPLE_HOST, field, open_list, reference

_NAME = f"^{NAME.pattern}$"

OPTION = {
    "name": field("string", "Name of its field.", "work_permit", pattern=_NAME),
    "value": field("string", "Value to submit.", "no", minLength=1),
    "label": field("string", "Label to show.", "No", minLength=1),
}
_LABEL_INPUT = {
    "name": field("string", "Name of the input.", "other_language", pattern=_NAME),
    "type": field("string", "Always a text input.", "text", enum=["text"]),
    "label": field("string", "Label to show.", "Another language", minLength=1),
}
_ABOUT_LABEL = (
    "Label to show. For a range that asks for an extra language: a text input for its name."
)
_EXPLAINED = {
    "name": "which_permit",
    "type": "text",
    "label": "When will you have one?",
    "required": True,
    "css": "col-12",
    "on_value": "no",
}
FORM_FIELD = {
    "name": field("string", "Name of the field, unique in the form.", "work_permit", pattern=_NAME),
    "type": open_list(
        "Kind of input. Show a type that you do not know as text.",
        "select",
        map(str, FieldType.values),
    ),
    "label": {
        "description": _ABOUT_LABEL,
        "oneOf": [
            {"type": "string", "minLength": 1},
            {
                "type": "object",
                "required": list(_LABEL_INPUT),
                "properties": _LABEL_INPUT,
            },
        ],
        "examples": ["Do you have a work permit?"],
    },
    "required": field("boolean", "Whether a value is required while the field is visible.", True),
    "css": open_list("Layout: number of columns out of twelve.", "col-12", map(str, Width.values)),
    "options": field(
        "array",
        "The options. Present for select, range, checkbox-group and radio-group.",
        [
            {"name": "work_permit", "value": "yes", "label": "Yes"},
            {"name": "work_permit", "value": "no", "label": "No"},
        ],
        items=reference("FormOption"),
        minItems=1,
    ),
    "conditional": field(
        "array",
        (
            "Fields that are visible only while their `on_value` is chosen here. Present if there "
            "are some."
        ),
        [_EXPLAINED],
        items=reference("FormField", required=["on_value"]),
        minItems=1,
    ),
    "on_value": field(
        "string",
        (
            'Of a conditional field: the value of its parent that makes it visible; "1" is a ticked '
            "checkbox."
        ),
        "no",
        minLength=1,
    ),
    "link": {
        "description": "Of the consent, if there is one: the privacy statement.",
        "type": "object",
        "required": ["label", "url"],
        "properties": {
            "label": field("string", "Text of the link.", "Privacy statement", minLength=1),
            "url": field("string", "Address.", f"{EXAMPLE_HOST}/privacy", pattern=ADDRESS),
        },
        "examples": [{"label": "Privacy statement", "url": f"{EXAMPLE_HOST}/privacy"}],
    },
    "version": field(
        "integer", "Of the consent: version of its text, starting at 1.", 3, minimum=1
    ),
}

EXAMPLE = {
    "title": "About you",
    "description": "<p>It takes two minutes.</p>",
    "fields": [
        {
            **{
                key: FORM_FIELD[key]["examples"][0]
                for key in ("name", "type", "label", "required", "css")
            },
            "options": FORM_FIELD["options"]["examples"][0],
            "conditional": [_EXPLAINED],
        },
        {
            "name": CONSENT,
            "type": "checkbox",
            "label": "I agree that my data is kept and used for this application.",
            "required": True,
            "css": "col-12",
            "link": FORM_FIELD["link"]["examples"][0],
            "version": 3,
        },
    ],
}
SECTION = {
    "title": field("string", "Heading of the section.", EXAMPLE["title"]),
    "description": field(
        ["string", "null"],
        "Text of the section. HTML; null if there is none.",
        EXAMPLE["description"],
        minLength=1,
        contentMediaType="text/html",
    ),
    "fields": field(
        "array", "Its fields, in order.", EXAMPLE["fields"], items=reference("FormField")
    ),
}

FORM_SCHEMA = {
    "version": field(
        "string",
        (
            "Version of the form. It changes exactly when the structure changes. Also the header "
            "`Form-Version`."
        ),
        "9f86d081884c7d65",
        pattern="^[0-9a-f]{16}$",
    ),
    "schema": field(
        "object",
        "JSON Schema (2020-12) of a valid submission: the values of the completed fields by name.",
        submission_schema([EXAMPLE], address=f"{EXAMPLE_HOST}/v1/vacancies/412/form/schema"),
        required=["$schema", "$id"],
        properties={"$schema": {"type": "string", "const": DIALECT}, "$id": {"type": "string"}},
        additionalProperties=True,  # the other keywords of JSON Schema
    ),
}

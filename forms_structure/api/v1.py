"""Version v1 of the API of application forms (interface 2.9)."""

from django.utils import translation
from django.utils.translation import gettext
from rest_framework import serializers

from forms_structure.api import schema
from forms_structure.choices import LEVELS, FieldType, Width
from forms_structure.models import ConsentText, Form
from forms_structure.structure import CONSENT, Structure
from jobsite.api.openapi import documented
from jobsite.api.serializers import PlainItemSerializer, TextField
from jobsite.languages import site_language
from jobsite.types import JsonObject


class OptionListSerializer(serializers.ListSerializer):
    """The options of a field. Plain dictionaries, because there can be thousands. The order of the
    keys is set here: PostgreSQL's jsonb does not preserve it.
    """

    def to_representation(self, field: JsonObject) -> list[JsonObject]:
        pairs = [(option["value"], option["label"]) for option in field.get("options", ())]
        if field["type"] == FieldType.RANGE:
            pairs = list(LEVELS.items())
        return [
            {"name": field["name"], "value": value, "label": str(label)} for value, label in pairs
        ]


@documented("FormOption", "An option of a form field.", schema.OPTION)
class OptionSerializer(PlainItemSerializer):
    name = serializers.CharField()
    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # a key of the API, not DRF's label

    class Meta:
        list_serializer_class = OptionListSerializer


@documented("FormField", "An input of an application form.", schema.FORM_FIELD)
class FormFieldSerializer(PlainItemSerializer):
    """A stored field (`forms_structure.structure`), with generated values: the levels of a range,
    names of options. Levels are in the active language.
    """

    name = serializers.CharField()
    type = serializers.CharField()
    label = serializers.SerializerMethodField()  # type: ignore[assignment]
    required = serializers.BooleanField()  # type: ignore[assignment]
    css = serializers.CharField()
    options = OptionSerializer(source="*", many=True)
    conditional = serializers.SerializerMethodField()
    on_value = serializers.CharField(required=False)
    link = serializers.DictField(required=False)
    version = serializers.IntegerField(required=False)

    class Meta:
        omit_absent = ("options", "conditional", "on_value", "link", "version")

    def get_label(self, field: JsonObject) -> str | JsonObject:
        label = field["label"]
        if isinstance(label, dict):
            return {"name": label["name"], "type": FieldType.TEXT.value, "label": label["label"]}
        return label

    def get_conditional(self, field: JsonObject) -> list[JsonObject]:
        return [self.to_representation(each) for each in field.get("conditional", ())]


@documented("FormSection", "A section of an application form.", schema.SECTION)
class SectionSerializer(PlainItemSerializer):
    title = serializers.CharField()
    description = TextField()
    fields = FormFieldSerializer(many=True)  # type: ignore[assignment] # a key of the API


@documented("FormSchema", "JSON Schema of a submission of an application form.", schema.FORM_SCHEMA)
class FormSchemaSerializer(PlainItemSerializer):
    version = serializers.CharField()
    schema = serializers.DictField()


def serve(form: Form | None, brand: int | None, language: str = "") -> tuple[list[JsonObject], str]:
    """Return the sections of `form` with the consent of `brand`, a number, and their language: the
    translation into `language` if there is one. Without a form, one section has the consent
    (docs/decisions.md #36, #38). One query, or two with a language.
    """
    form = form.in_language(language) if form and language else form
    language = form.served_language if form else site_language()
    consent = ConsentText.objects.current(language, brand)
    return served_sections(form.whole_structure if form else [], consent, language), language


def served_sections(structure: Structure, consent: ConsentText, language: str) -> list[JsonObject]:
    """Return the sections of `structure` as the API serves them, with the
    consent, in `language`.
    """
    with translation.override(language):
        sections: list[JsonObject] = list(SectionSerializer(structure, many=True).data)
        if not sections:
            sections = [{"title": gettext("Privacy"), "description": None, "fields": []}]
        sections[-1]["fields"].append(FormFieldSerializer(_consent_field(consent)).data)
    return sections


def _consent_field(consent: ConsentText) -> JsonObject:
    field = {
        "name": CONSENT,
        "type": FieldType.CHECKBOX.value,
        "label": consent.text,
        "required": True,
        "css": Width.FULL.value,
        "version": consent.version,
    }
    if consent.statement_url:
        label = consent.statement_label or gettext("Privacy statement")
        field["link"] = {"label": label, "url": consent.statement_url}
    return field

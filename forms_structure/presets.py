"""Preset sections for the form builder."""

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from forms_structure.structure import Section
from jobsite.types import JsonObject, StrOrPromise


def presets(language: str) -> list[JsonObject]:
    """Return the presets as [{"label", "section"}]. Sections are in `language`, labels in the
    active language.
    """
    offered = {
        _("Personal data"): _personal_data,
        _("Language levels"): _languages,
        _("Yes or no, with an explanation"): _yes_or_no,
        _("CV and letter"): _documents,
        _("Talent pool"): _pool,
    }
    with translation.override(language):
        return [{"label": label, "section": section()} for label, section in offered.items()]


def _personal_data() -> Section:
    return _section(
        _("Personal data"),
        _field("first_name", "text", _("First name"), css="col-6", role="given_name"),
        _field("last_name", "text", _("Last name"), css="col-6", role="family_name"),
        _field("email", "email", _("E-mail address"), css="col-6", role="email"),
        _field("phone", "tel", _("Telephone number"), css="col-6", required=False, role="phone"),
    )


def _languages() -> Section:
    return _section(
        _("Languages"),
        _field("lang_nl", "range", _("Dutch")),
        _field("lang_fr", "range", _("French")),
        _field("lang_en", "range", _("English")),
        _field(
            "lang_extra_level",
            "range",
            {"name": "lang_extra_name", "label": _("Another language")},
            required=False,
        ),
    )


def _yes_or_no() -> Section:
    options = [{"value": "yes", "label": _("Yes")}, {"value": "no", "label": _("No")}]
    explanation = _field("experience_explained", "textarea", _("Please explain")) | {
        "on_value": "yes"
    }
    return _section(
        _("Experience"),
        _field("experience", "radio-group", _("Do you have experience in a similar job?"))
        | {"options": options, "conditional": [explanation]},
    )


def _documents() -> Section:
    return _section(
        _("CV and letter"),
        _field("cv", "file", _("Your CV"), role="cv"),
        _field("letter", "textarea", _("Why do you apply?"), required=False),
    )


def _pool() -> Section:
    text = _("Keep my data for %(months)d months, so that you can consider me for other vacancies.")
    label = text % {"months": settings.POOL_MONTHS}
    field = _field("talent_pool", "checkbox", label, required=False, role="pool")
    return _section(_("Talent pool"), field)


def _section(title: str, *fields: JsonObject) -> Section:
    return {"title": title, "description": "", "fields": list(fields)}


def _field(
    name: str,
    type: str,
    label: StrOrPromise | dict[str, str],
    *,
    css: str = "col-12",
    required: bool = True,
    **role: str,
) -> JsonObject:
    return {"name": name, "type": type, "label": label, "required": required, "css": css, **role}

"""The form of a vacancy as it is served, for validating and storing submissions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from applications.models import FormSnapshot
from forms_structure.api.v1 import served_sections
from forms_structure.exchange import digest
from forms_structure.models import ConsentText, Form
from forms_structure.roles import roles
from forms_structure.structure import CONSENT, Structure
from jobsite.languages import site_language, text_languages
from jobsite.types import JsonObject
from vacancies.models import Vacancy

SERIALIZED_MAX = 200  # forms, in each process
_serialized: dict[str, tuple[list[JsonObject], str]] = {}  # sections and version, by content
# Saved versions of a form that are compared with an older version of a submission.
VERSIONS_MAX = 20


@dataclass(frozen=True, eq=False)
class ServedForm:
    """A form as the API serves it.
    `version` is its digest, `roles` has the field name of each role.
    """

    form: Form | None
    sections: list[JsonObject]
    consent_text: ConsentText
    language: str
    version: str
    roles: dict[str, str]
    accepts_applications: bool

    @property
    def is_translation(self) -> bool:
        return self.form is not None and self.form.translation_of_id is not None

    @property
    def consent(self) -> JsonObject:
        return _consent_in(self.sections)


def submission_form(vacancy: Vacancy, language: str = "") -> ServedForm:
    """Return the form of `vacancy`, or its translation into `language`. Two queries, or three with a
    language. Requires `Vacancy.objects.with_form()`.
    """
    form = vacancy.served_form
    form = form.in_language(language) if form and language else form
    structure = form.whole_structure if form else []
    language = form.served_language if form else site_language()
    consent = ConsentText.objects.current(language, vacancy.brand_id)
    texts = (consent.text, consent.version, consent.statement_label, consent.statement_url)
    # Serializing takes a tenth of the time of a submission, so it is done once for each content.
    key = digest([structure, texts, language])
    if key not in _serialized:
        if len(_serialized) >= SERIALIZED_MAX:
            _serialized.clear()
        sections = served_sections(structure, consent, language)
        _serialized[key] = sections, digest(sections)
    sections, version = _serialized[key]
    return ServedForm(
        form=form,
        sections=sections,
        consent_text=consent,
        language=language,
        version=version,
        roles=roles(structure),
        accepts_applications=vacancy.accepts_applications(form),
    )


def in_version(vacancy: Vacancy, form: ServedForm, version: str) -> ServedForm:
    """Return the language of `form`, that of `vacancy`, which has the `version`; `form` if none has."""
    for language in ("", *text_languages()) if version != form.version and text_languages() else ():
        if (other := submission_form(vacancy, language)).version == version:
            return other
    return form


def sections_of_original(vacancy: Vacancy, form: ServedForm) -> list[JsonObject] | None:
    """Return the sections of the original of `form`, that of `vacancy`; None if it is one."""
    return submission_form(vacancy).sections if form.is_translation else None


def had_same_consent(form: ServedForm, version: str) -> bool:
    """Whether the `version` of a form, which is not the current one, asked for the same consent as
    `form`.

    False if nothing is known about the version (docs/decisions.md #147).
    """
    snapshot = FormSnapshot.objects.filter(digest=version).first()
    if snapshot:
        earlier = _consent_in(snapshot.sections)
        is_equal = all(earlier.get(key) == form.consent.get(key) for key in ("label", "link"))
        return is_equal and _brand_of(earlier["version"]) == form.consent_text.brand_number
    # No submission has this version: compare with the saved versions, with the current consent.
    return any(
        digest(served_sections(structure, form.consent_text, form.language)) == version
        for structure in _earlier_structures(form.form, form.language)
    )


def _consent_in(sections: list[JsonObject]) -> JsonObject:
    fields = sections[-1]["fields"] if sections else []
    return fields[-1] if fields and fields[-1]["name"] == CONSENT else {}


def _brand_of(version: int) -> int | None:
    """Return the number of the brand whose consent text has this version;
    None for a text of the site.
    """
    texts = ConsentText.objects.filter(version=version)
    return texts.values_list("brand_number", flat=True).first()


def _earlier_structures(form: Form | None, language: str) -> Iterator[Structure]:
    """Yield the whole structures that `form` had, newest first, as it and the form that it extends
    were saved one after the other.
    """
    if form is None:
        return
    # Time, 0 for the base or 1 for the form itself, structure.
    saves: list[tuple[Any, int, Structure]] = []
    for part, saved in enumerate((form.extends, form)):
        snapshots = saved.snapshots.filter(language=language)[:VERSIONS_MAX] if saved else ()
        saves += [(each.created_at, part, each.structure) for each in snapshots]
    current: list[Structure] = [form.extends.structure if form.extends else [], form.structure]
    remaining: list[list[Structure]] = [[], []]
    saves.sort(key=lambda save: save[0], reverse=True)
    for _at, part, structure in saves:
        remaining[part].append(structure)
    for _at, part, _structure in saves:
        # what was served until this save: the save before it
        remaining[part].pop(0)
        if not remaining[part]:
            continue
        current[part] = remaining[part][0]
        yield [*current[0], *current[1]]

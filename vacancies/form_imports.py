"""Bringing application forms in from another service: one form for all vacancies that ask the same."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from forms_structure import operations
from forms_structure.exchange import Reading, digest
from forms_structure.models import ConsentText, Form
from forms_structure.structure import CONSENT, StructureError
from forms_structure.vocabulary import Language
from jobsite.languages import site_language
from vacancies.models import Brand, Vacancy
from vacancies.sources import FormRow

ORIGIN = "import"
FAULTS_SHOWN = 5


@dataclass
class Report:
    """What an import did, by count and in words."""

    created: int = 0  # forms
    updated: int = 0  # forms that only this vacancy uses
    assigned: int = 0  # vacancies that got another form
    unchanged: int = 0  # vacancies
    refused: int = 0  # rows
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.assigned + self.updated + self.unchanged + self.refused


class FormImporter:
    """Lands the forms of vacancies that are here. A vacancy whose applicants get that form already is
    left alone; equal forms become one; the same again changes nothing.

    `language` is that of forms that do not show theirs; `consent_name` the name of the source's consent
    box, in whose place ours is served.
    """

    def __init__(self, *, language: str = "", consent_name: str = CONSENT) -> None:
        self.language = language or site_language()
        self.consent_name = consent_name
        self.report = Report()
        self._noted: set[str] = set()
        forms = Form.objects.filter(extends=None).order_by("-pk")
        self._known = {key(form.structure, form.language): form.pk for form in forms.iterator()}

    def land(self, rows: Iterable[FormRow]) -> None:
        """Give the vacancies of `rows` their forms, a transaction each; `report` says what came of them."""
        for row in rows:
            try:
                reading = Reading(row.data, consent_name=self.consent_name)
            except StructureError as error:
                some, more = error.messages[:FAULTS_SHOWN], len(error.messages[FAULTS_SHOWN:])
                self._refuse(row, "; ".join(some) + (f"; and {more} more" if more else ""))
                continue
            with transaction.atomic():
                self._land(row, reading)

    def _land(self, row: FormRow, reading: Reading) -> None:
        vacancy = Vacancy.objects.filter(pk__in=_pks(row.pk)).with_form().defer("search_text").first()
        if vacancy is None:
            self._refuse(row, "there is no vacancy with this id here; import the vacancies first.")
            return
        served = vacancy.served_form
        language = self._language(reading, served)
        wanted = key(reading.structure, language)
        self._note(row, reading, language)
        here = key(served.whole_structure, served.served_language) if served else key([], site_language())
        if here == wanted:
            self.report.unchanged += 1
            return
        form = self._equal_form(wanted)
        if form is None and served and self._is_only_for(vacancy, served):
            if lost := operations.lost_names(served, reading.structure):
                self.report.notes.append(f"{row.name}: “{served}” changed, and lost {', '.join(lost)}")
            operations.save(form=served, structure=reading.structure, origin=ORIGIN, language=language)
            self._known[wanted] = served.pk
            self.report.updated += 1
            return
        if form is None:
            name = f"Form of {vacancy.title}"
            form = operations.create(name=name, structure=reading.structure, origin=ORIGIN, language=language)
            self._known[wanted] = form.pk
            self.report.created += 1
        Vacancy.objects.filter(pk=vacancy.pk).update(form=form)
        self.report.assigned += 1

    def _equal_form(self, wanted: str) -> Form | None:
        """The form of that key, locked. What we knew may be over: a row before, or a recruiter since,
        changed it."""
        known = Form.objects.select_for_update().filter(pk__in=[self._known.get(wanted)], extends=None)
        return next((form for form in known if key(form.structure, form.language) == wanted), None)

    def _language(self, reading: Reading, served: Form | None) -> str:
        """The language of a form. One whose sections do not show it is taken for one that is here, the
        vacancy's own first."""
        if reading.language:
            return reading.language
        if served and served.whole_structure == reading.structure:
            return served.served_language
        candidates = (self.language, *Language.values)
        known = (name for name in candidates if key(reading.structure, name) in self._known)
        return next(known, self.language)

    def _is_only_for(self, vacancy: Vacancy, form: Form) -> bool:
        """Whether nothing else uses `form`, and no recruiter had a hand in it: then the import changes it
        rather than leaving it behind."""
        return (
            vacancy.form_id == form.pk
            and not form.is_default
            and not form.extends_id
            and not form.extensions.exists()
            and not form.snapshots.exclude(author=None).exists()
            and not Vacancy.objects.filter(form=form).exclude(pk=vacancy.pk).exists()
            and not Brand.objects.filter(form=form).exists()
        )

    def _note(self, row: FormRow, reading: Reading, language: str) -> None:
        notes = list(reading.notes)
        ours = ConsentText.objects.current(language).text
        if not reading.has_consent:
            notes.append(f"no consent box called {self.consent_name}; name that of the source with --consent")
        elif reading.consent != ours:
            notes.append(f"the consent reads {reading.consent!r} there and {ours!r} here")
        for note in notes:
            if note not in self._noted:  # all forms of one source tend to have the same
                self._noted.add(note)
                self.report.notes.append(f"{row.name}: {note}")

    def _refuse(self, row: FormRow, reason: str) -> None:
        self.report.refused += 1
        self.report.failed.append(f"{row.name}: {reason}")


def key(structure: Any, language: str) -> str:
    """The same for forms that applicants cannot tell apart."""
    return digest([language, structure])


def _pks(value: Any) -> list[int]:
    """The id that a file has as text, or nothing when it is none."""
    return [int(value)] if re.fullmatch("[0-9]{1,18}", str(value)) else []

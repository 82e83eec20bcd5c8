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
from forms_structure.vocabulary import Language, site_language
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
        language, wanted = self._identify(reading, served)
        self._note(row, reading, language)
        if served and key(served.whole_structure, served.language) == wanted:
            self.report.unchanged += 1
            return
        if wanted not in self._known and served and self._is_only_for(vacancy, served):
            operations.save(form=served, structure=reading.structure, origin=ORIGIN, language=language)
            self._known[wanted] = served.pk
            self.report.updated += 1
            return
        if wanted not in self._known:
            name = f"Form of {vacancy.title}"
            made = operations.create(name=name, structure=reading.structure, origin=ORIGIN, language=language)
            self._known[wanted] = made.pk
            self.report.created += 1
        Vacancy.objects.filter(pk=vacancy.pk).update(form=self._known[wanted])
        self.report.assigned += 1

    def _identify(self, reading: Reading, served: Form | None) -> tuple[str, str]:
        """Return the language and the key of a form. One whose sections do not show their language is
        taken for one that is here, the vacancy's own first."""
        if reading.language:
            candidates = [reading.language]
        else:
            candidates = [*([served.language] if served else []), self.language, *Language.values]
        keys = {language: key(reading.structure, language) for language in candidates}
        here = self._known.keys() | ({key(served.whole_structure, served.language)} if served else set())
        language = next((name for name, wanted in keys.items() if wanted in here), None)
        language = language or reading.language or self.language
        return language, keys[language]

    def _is_only_for(self, vacancy: Vacancy, form: Form) -> bool:
        """Whether nothing else uses `form`: then the import changes it rather than leaving it behind."""
        return (
            vacancy.form_id == form.pk
            and not form.is_default
            and not form.extends_id
            and not form.extensions.exists()
            and not Vacancy.objects.filter(form=form).exclude(pk=vacancy.pk).exists()
            and not Brand.objects.filter(form=form).exists()
        )

    def _note(self, row: FormRow, reading: Reading, language: str) -> None:
        notes = list(reading.notes)
        ours = ConsentText.objects.current(language).text
        if reading.consent is None:
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

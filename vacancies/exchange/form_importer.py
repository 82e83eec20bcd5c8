"""Import of application forms: vacancies with equal forms share one form."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from forms_structure import operations
from forms_structure.choices import Language
from forms_structure.exchange import ParsedForm, digest
from forms_structure.models import ConsentText, Form
from forms_structure.roles import with_roles_of, without_roles
from forms_structure.structure import CONSENT, StructureError
from forms_structure.translations import check_equal, own_values
from jobsite.languages import site_language
from vacancies.exchange.fields import Remark
from vacancies.exchange.json_files import repeated_key
from vacancies.exchange.reports import ImportReport
from vacancies.exchange.sources import FormRow
from vacancies.history.versions import record_drifts
from vacancies.models import Brand, Vacancy

ORIGIN = "import"


@dataclass
class FormReport(ImportReport):
    """Counts and messages of an import of forms."""

    created: int = 0  # forms
    updated: int = 0  # vacancies whose own form was changed
    assigned: int = 0  # vacancies that were given another form
    unchanged: int = 0  # vacancies

    @property
    def total(self) -> int:
        return self.assigned + self.updated + self.unchanged + self.refused


class FormImporter:
    """Imports the forms of existing vacancies. A vacancy that already serves an equal form is not
    changed.

    `language` is the language of forms that do not determine it. `consent_name` is the name of the
    consent box of the source, which ours replaces. `unescape` is as for `VacancyImporter`.
    """

    def __init__(
        self, *, language: str = "", consent_name: str = CONSENT, unescape: bool = False
    ) -> None:
        self.unescape = unescape
        self.language = language or site_language()
        self.consent_name = consent_name
        self.report = FormReport()
        self._noted: set[str] = set()
        forms = Form.objects.originals().filter(extends=None).order_by("-pk")
        self._known: dict[str, int] = {}  # form ids by key
        for form in forms.iterator():
            self._know(form)

    def import_rows(self, rows: Iterable[FormRow]) -> None:
        """Assign the forms of `rows`, one transaction per row, and add the results to `report`."""
        for row in rows:
            with self.report.batch():
                self._import_row(row)

    def _import_row(self, row: FormRow) -> None:
        if (key := repeated_key(row.data)) is not None:
            self._refuse(
                row, Remark(str(key), "repeated_key", "Occurs more than once in an object.")
            )
            return
        try:
            reading = ParsedForm(row.data, consent_name=self.consent_name, unescape=self.unescape)
        except StructureError as error:
            self._refuse(
                row, *(Remark(path, "invalid", text) for path, text in error.faults.items())
            )
            return
        with transaction.atomic():
            self._import(row, reading)
            if row.translations is not None and reading.structure:
                self._translate(row)

    def _translate(self, row: FormRow) -> None:
        """Give the form of the vacancy its translations. Texts that are translated already stay;
        what is no translation of the form is left out, with a note.
        """
        vacancies = Vacancy.objects.filter(pk__in=_pks(row.pk)).with_form()
        form = next((each.served_form for each in vacancies), None)
        form = form if form and not form.extends_id else None  # imported forms extend none
        given = row.translations if isinstance(row.translations, dict) else {}
        if not isinstance(row.translations, dict):
            self._warn(row, "translations", "Must be an object of forms by language; ignored.")
        for language, data in given.items() if form else ():
            assert form
            path, known = f"translations.{language}", form.translations.filter(language=language)
            if language not in Language.values or language == form.served_language:
                self._warn(row, path, "Is no other language of forms; ignored.")
                continue
            try:
                reading = ParsedForm(data, consent_name=self.consent_name, unescape=self.unescape)
                structure = with_roles_of(form.whole_structure, reading.structure)
                check_equal(form.whole_structure, structure)
                made = known.first() or operations.translate(form, language)
                words = own_values(form.whole_structure)
                new = {
                    path: text
                    for path, text in own_values(structure).items()
                    if path in made.marks and text != words[path]
                }
                operations.save_translation(made, new, author=None)
            except ValidationError as error:
                self._warn(row, path, " ".join(error.messages)[:500])

    def _warn(self, row: FormRow, path: str, text: str) -> None:
        self.report.add("note", row.name, Remark(path, "translation", text), id=row.pk)

    def _import(self, row: FormRow, reading: ParsedForm) -> None:
        vacancy = (
            Vacancy.objects.filter(pk__in=_pks(row.pk)).with_form().defer("search_text").first()
        )
        if vacancy is None:
            text = "there is no vacancy with this id here; import the vacancies first."
            self._refuse(row, Remark("", "vacancy", text))
            return
        served = vacancy.served_form
        if served:
            reading.structure = with_roles_of(served.whole_structure, reading.structure)
        language = self._language(reading, served)
        wanted = key(reading.structure, language)
        self._note(row, reading, language, vacancy.brand_id)
        current = (
            key(served.whole_structure, served.served_language)
            if served
            else key([], site_language())
        )
        if current == wanted:
            self.report.unchanged += 1
            return
        form = self._equal_form(wanted)
        if served:  # locked, so that a concurrent save by a recruiter is seen below
            Form.objects.select_for_update().filter(pk=served.pk).first()
        if form is None and served and self._is_only_for(vacancy, served):
            if lost := operations.lost_names(served, reading.structure):
                text = f"“{served}” was changed and lost the fields {', '.join(lost)}"
                self.report.add("note", row.name, Remark("", "names_lost", text), id=row.pk)
            operations.save(
                served, operations.FormEdit(reading.structure, language=language), origin=ORIGIN
            )
            self._know(served)
            self.report.updated += 1
            return
        locked = Vacancy.objects.select_for_update().filter(pk=vacancy.pk, form=vacancy.form_id)
        if locked.values_list("pk", flat=True).first() is None:
            text = "the vacancy was given another form during the import; import it again."
            self._refuse(row, Remark("", "changed", text))
            return
        if form is None:
            name = f"Form of {vacancy.title}"
            form = operations.create(
                name=name, structure=reading.structure, origin=ORIGIN, language=language
            )
            self._know(form)
            self.report.created += 1
        Vacancy.objects.filter(pk=vacancy.pk).update(form=form)
        record_drifts([vacancy.pk], at=timezone.now())
        self.report.assigned += 1

    def _know(self, form: Form) -> None:
        """Remember `form`, also for rows without roles: applicants do not see the difference."""
        self._known[key(without_roles(form.structure), form.language)] = form.pk
        self._known[key(form.structure, form.language)] = form.pk

    def _equal_form(self, wanted: str) -> Form | None:
        """Return the form with the key `wanted`, locked, or None if an earlier row or a recruiter
        has changed it.
        """
        known = Form.objects.select_for_update().filter(
            pk__in=[self._known.get(wanted)], extends=None
        )
        for form in known:
            if wanted in (
                key(form.structure, form.language),
                key(without_roles(form.structure), form.language),
            ):
                return form
        return None

    def _language(self, reading: ParsedForm, served: Form | None) -> str:
        """Return the language of a form. If its sections do not determine it, prefer the language
        of an equal form: that of the vacancy, then any other.
        """
        if reading.language:
            return reading.language
        if served and served.whole_structure == reading.structure:
            return served.served_language
        candidates = (self.language, *Language.values)
        known = (name for name in candidates if key(reading.structure, name) in self._known)
        return next(known, self.language)

    def _is_only_for(self, vacancy: Vacancy, form: Form) -> bool:
        """Whether only `vacancy` uses `form` and no recruiter has saved it. Then the import changes
        the form instead of creating another one.
        """
        return (
            vacancy.form_id == form.pk
            and not form.is_default
            and not form.extends_id
            and not form.extensions.exists()
            and not form.snapshots.exclude(author=None).exists()
            and not Vacancy.objects.filter(form=form).exclude(pk=vacancy.pk).exists()
            and not Brand.objects.filter(form=form).exists()
        )

    def _note(self, row: FormRow, reading: ParsedForm, language: str, brand: int | None) -> None:
        for path, change in reading.changes:
            self.report.add("note", row.name, Remark(path, change.code, change.message), id=row.pk)
        notes = [("form", note) for note in reading.notes]
        ours = ConsentText.objects.current(language, brand).text
        if not reading.has_consent:
            text = (
                f"no consent box named {self.consent_name}; pass its name in the source with "
                "--consent"
            )
            notes.append(("consent", text))
        elif reading.consent != ours:
            notes.append(
                (
                    "consent",
                    f"the consent text is {reading.consent!r} in the source and {ours!r} here",
                )
            )
        for code, note in notes:
            if note not in self._noted:  # usually the same for all forms of a source
                self._noted.add(note)
                self.report.add("note", row.name, Remark("", code, note), id=row.pk)

    def _refuse(self, row: FormRow, *remarks: Remark) -> None:
        self.report.refuse(row.name, *remarks, id=row.pk)


def key(structure: object, language: str) -> str:
    """Return a key that is equal for forms that look the same to applicants."""
    return digest([language, structure])


def _pks(value: Any) -> list[int]:
    """Return the vacancy id `value` of a file as a list; empty if it is not an id."""
    return [int(value)] if re.fullmatch("[0-9]{1,18}", str(value)) else []

"""Import of rows, one transaction each."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from django.contrib.auth.models import User
from django.db import DatabaseError
from django.utils import timezone

from applications import operations
from applications.importer.rows import COLUMNS, ApplicationRow
from applications.importer.submissions import RowRefusedError, add_emails, add_notes, add_submission
from applications.models import Application, Stage, StageChange, Status, Task
from applications.models.application import new_reference
from applications.querysets import folded_address, phone_digits
from applications.submissions.idempotency import lock_address
from jobsite.db.transactions import retry_on_conflict
from jobsite.languages import LANGUAGES, site_language
from jobsite.text.names import numbered_name
from jobsite.types import JsonObject
from vacancies.exchange.fields import Remark, faults
from vacancies.exchange.json_files import InvalidLine, repeated_key
from vacancies.exchange.reports import ImportReport
from vacancies.models import Vacancy

CHANGES = {
    "line_breaks": "replaced line breaks by spaces",
    "control_characters": "removed invisible characters",
    "ambiguous_time": "occurs twice in the time zone of the source; used the first",
}


@dataclass
class ApplicationReport(ImportReport):
    """Counts and messages of an import.
    Rows are named by number, to keep people's names out of logs.
    """

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    users: int = 0  # accounts that were created

    @property
    def total(self) -> int:
        return self.created + self.updated + self.unchanged + self.refused


class ApplicationImporter:
    """Imports rows, one transaction each, and adds the results to `report`."""

    def __init__(self, *, is_dry_run: bool = False) -> None:
        self.report = ApplicationReport()
        self.now = timezone.now()
        self.is_dry_run = is_dry_run
        self._noted: set[str] = set()

    def import_rows(
        self, rows: Iterable[JsonObject], *, source: Path, zone: tzinfo | None = None
    ) -> None:
        """Import `rows` of the file `source`.
        `zone` is the time zone of its times, the site's if None.
        """
        self.folder = source.parent
        for number, row in enumerate(rows, 1):
            name = f"{source.name} row {number}"
            with self.report.batch():
                self._import_row(name, row, zone)

    def _import_row(self, name: str, row: JsonObject, zone: tzinfo | None) -> None:
        if isinstance(row, InvalidLine):
            self._refuse(name, Remark("", "json", row.reason))
            return
        if repeated_key(row) is not None:
            self._refuse(
                name, Remark("", "repeated_key", "A key occurs more than once in this row.")
            )
            return
        changes: list[Remark] = []
        serializer = ApplicationRow(data=row, context={"zone": zone, "changes": changes})
        if not serializer.is_valid():
            self._refuse(name, *faults(serializer.errors))
            return
        for change in changes:
            # without the value, which may be personal data
            self.report.add("note", name, Remark(change.field, change.code, CHANGES[change.code]))
        unknown = row.keys() - serializer.fields.keys()
        if unknown:
            text = f"unknown keys were ignored: {', '.join(sorted(map(str, unknown)))}"
            self._note_once(name, "unknown_keys", text)
        try:
            # Retried if a parallel import created the same account or stage first.
            retry_on_conflict(partial(self._import, name, serializer.validated_data))
        except RowRefusedError as error:
            self._refuse(name, Remark(error.field, "file", str(error)))
        except (DatabaseError, UnicodeError) as error:
            self._refuse(name, Remark("", "database", str(error).splitlines()[0]))

    def _import(self, name: str, row: JsonObject) -> None:
        vacancy = Vacancy.objects.filter(pk=row["vacancy_id"]).only("pk").first()
        if vacancy is None:
            text = f"vacancy {row['vacancy_id']} does not exist here; import the vacancies first."
            self._refuse(name, Remark("", "vacancy", text))
            return
        stage = self._stage(name, row)
        if stage is None and row.get("stage"):
            self._refuse(
                name,
                Remark(
                    "", "stage", f"the stage {row['stage']!r} does not exist here; create it first."
                ),
            )
            return
        user, is_new_user = self._user(row["user"]) if row.get("user") else (None, False)
        application = self._known(user, vacancy, row)
        if reference := row.get("reference"):
            others = Application.objects.exclude(pk__in=[application.pk] if application else [])
            if others.filter(reference=reference).exists():
                raise RowRefusedError("reference", "Another application has this reference.")
        is_new = application is None
        if application is None:
            application = self._create(user, vacancy, row)
        changed = self._change(application, row, stage, is_new=is_new)
        self.report.users += is_new_user
        if is_new:
            self.report.created += 1
        elif changed:
            self.report.updated += 1
            Application.objects.filter(pk=application.pk).update(updated_at=self.now)
        else:
            self.report.unchanged += 1

    def _create(self, user: User | None, vacancy: Vacancy, row: JsonObject) -> Application:
        values = {column: row[column] for column in COLUMNS if column in row}
        if row.get("submission"):
            values.setdefault("reference", new_reference())
        at = row.get("created_at", self.now)
        return operations.create_application(user=user, vacancy=vacancy, at=at, **_folded(values))

    def _known(self, user: User | None, vacancy: Vacancy, row: JsonObject) -> Application | None:
        """Return the stored application of the row: that of the account, or of the address if there
        is none. An applicant may have linked the latter to an account since.
        """
        if user:
            known = Application.objects.of(user)
        else:
            lock_address(vacancy, folded_address(row["email"]))
            known = Application.objects.from_address(row["email"])
        known = known.filter(vacancy=vacancy).select_for_update(of=("self",))
        if "created_at" in row:
            known = known.filter(created_at=row["created_at"])
        return known.newest_first().first()

    def _change(
        self, application: Application, row: JsonObject, stage: Stage | None, *, is_new: bool
    ) -> bool:
        values = {column: row[column] for column in COLUMNS if column in row}
        changed = any(getattr(application, column) != value for column, value in values.items())
        if changed:
            Application.objects.filter(pk=application.pk).update(**_folded(values))
        if stage:
            is_named = bool(row.get("stage"))
            changed |= self._move(application, stage, is_named=is_named, is_new=is_new)
        if "history" in row:
            changed |= self._steps(application, row["history"] or [])
        changed |= add_emails(application, row.get("emails", []))
        changed |= add_notes(application, row.get("notes", []))
        if row.get("submission"):  # last, because it stores files
            changed |= add_submission(
                application, row["submission"], folder=self.folder, is_dry_run=self.is_dry_run
            )
        return changed

    def _move(
        self, application: Application, stage: Stage, *, is_named: bool, is_new: bool
    ) -> bool:
        """Move `application` to `stage`, which the source named, or which has the status that it
        named. Return whether it was in another one.
        """
        latest = application.changes.select_related("stage").last()
        if latest and (
            latest.stage == stage if is_named else latest.stage.status_id == stage.status_id
        ):
            return False
        StageChange.objects.create(
            application=application,
            stage=stage,
            # A status was shown by the source since the application; a stage is new here.
            at=application.created_at if is_new and not is_named else self.now,
            is_exempt_from_embargo=not is_named,
        )
        return True

    def _steps(self, application: Application, steps: list[JsonObject]) -> bool:
        """Replace the imported steps of `application` by `steps`.
        Steps that were created here are kept.
        """
        keys = ("name", "result", "planned_at", "is_visible", "created_at", "updated_at")
        wanted = [self._step(step, application) for step in steps]
        imported = application.history.filter(is_imported=True)
        if Counter(imported.values_list(*keys)) == Counter(
            tuple(getattr(step, key) for key in keys) for step in wanted
        ):
            return False
        imported.delete()
        Task.objects.bulk_create(wanted)
        return True

    def _step(self, step: JsonObject, application: Application) -> Task:
        created_at: datetime = step.get("created_at", application.created_at)
        return Task(
            application=application,
            name=step["name"],
            result=step.get("result", ""),
            planned_at=step["planned_at"],
            is_visible=step["is_visible"],
            is_imported=True,
            created_at=created_at,
            updated_at=step.get("updated_at", created_at),
        )

    def _user(self, person: JsonObject) -> tuple[User, bool]:
        """Return the account of that name, and whether it was created. An existing account is not
        changed.

        It is locked: otherwise two imports could each create the same application.
        """
        accounts = User._default_manager.select_for_update(no_key=True)
        user = accounts.filter(username=User.normalize_username(person["username"])).first()
        if user is not None:
            return user, False
        return User.objects.create_user(
            person["username"], person["email"], person.get("password")
        ), True

    def _stage(self, name: str, row: JsonObject) -> Stage | None:
        if row.get("stage"):
            return Stage.objects.filter(name=row["stage"]).first()
        text = row.get("status", "").strip()
        if not text:
            return None
        # Read before the statuses: if another import commits this status in between, the name of
        # its stage is not among these, so the insert fails and is retried.
        taken = set(
            Stage.objects.filter(name__startswith=text[:190]).values_list("name", flat=True)
        )
        for status in Status.objects.all():
            if text.casefold() in {
                getattr(status, f"label_{code}").casefold() for code in LANGUAGES
            }:
                return status.stages.first() or self._new_stage(text, status, taken)
        remark = f"the status {text!r} was created: translate it, and map a stage to it"
        self._note_once(name, "status", remark)
        status = Status.objects.create(**{f"label_{site_language()}": text})
        return self._new_stage(text, status, taken)

    def _new_stage(self, text: str, status: Status, taken: set[str]) -> Stage:
        name = text if text not in taken else numbered_name(text[:190], taken)
        return Stage.objects.create(name=name, status=status, position=Stage.objects.count())

    def _note_once(self, name: str, code: str, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self.report.add("note", name, Remark("", code, text))

    def _refuse(self, name: str, *remarks: Remark) -> None:
        self.report.refuse(name, *remarks)


def _folded(values: JsonObject) -> JsonObject:
    """Return columns of an application, with the address and telephone number for comparison."""
    folded = {"email": ("email_folded", folded_address), "phone": ("phone_digits", phone_digits)}
    return values | {
        name: fold(values[key]) for key, (name, fold) in folded.items() if key in values
    }

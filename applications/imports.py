"""Bringing applications in from a tracking system: rows of a file become rows here, the same again changes
nothing, and a bad row is reported by number and loses no good one."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import DatabaseError, transaction
from django.utils import timezone
from rest_framework import serializers

from applications import operations
from applications.models import Application, HistoryEntry, Stage, StageChange, Status
from jobsite.languages import LANGUAGES, site_language
from jobsite.names import numbered
from vacancies.models import Vacancy
from vacancies.shapes import ID_MAX, MomentField, TextField, flatten

User = get_user_model()


class _Person(serializers.Serializer):
    username = serializers.CharField(max_length=150, validators=[UnicodeUsernameValidator()])
    email = serializers.EmailField(max_length=254, required=False, allow_blank=True, default="")
    password = serializers.CharField(required=False, max_length=4096, trim_whitespace=False)


class _Step(serializers.Serializer):
    name = TextField(max_length=200, required=True, allow_null=False, allow_blank=False)
    result = TextField(max_length=200)
    planned_at = MomentField(required=True)
    is_visible = serializers.BooleanField(default=True)
    created_at = MomentField()
    updated_at = MomentField()


class _Row(serializers.Serializer):
    """An application as a file has it: `status` is what its applicant reads, `stage` our own stage."""

    user = _Person()
    vacancy_id = serializers.IntegerField(min_value=1, max_value=ID_MAX)
    status = TextField(max_length=200)
    stage = TextField(max_length=200)
    is_spontaneous = serializers.BooleanField(default=False)
    created_at = MomentField()
    history = _Step(many=True, required=False, allow_null=True)


@dataclass
class Report:
    """What an import did, by count and in words. It names rows by number: people's names stay out of logs."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    refused: int = 0
    users: int = 0  # accounts that were created
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.created + self.updated + self.unchanged + self.refused


class Importer:
    """Lands rows, a transaction each; `report` says what came of them."""

    def __init__(self) -> None:
        self.report = Report()
        self.now = timezone.now()

    def land(self, rows: Iterable[Any], *, source: str) -> None:
        for number, row in enumerate(rows, 1):
            name = f"{source} row {number}"
            shape = _Row(data=row)
            if not shape.is_valid():
                self._refuse(name, "; ".join(flatten(shape.errors)))
                continue
            unknown = row.keys() - shape.fields.keys()
            if unknown:
                self._note(f"keys that we have no place for: {', '.join(sorted(map(str, unknown)))}", name)
            try:
                with transaction.atomic():
                    self._land(name, shape.validated_data)
            except (DatabaseError, UnicodeError) as error:
                self._refuse(name, str(error).splitlines()[0])

    def _land(self, name: str, row: dict[str, Any]) -> None:
        vacancy = Vacancy.objects.filter(pk=row["vacancy_id"]).only("pk").first()
        if vacancy is None:
            self._refuse(name, f"there is no vacancy {row['vacancy_id']} here; import the vacancies first.")
            return
        stage = self._stage(name, row)
        if stage is None and row.get("stage"):
            self._refuse(name, f"there is no stage {row['stage']!r} here; add it first.")
            return
        user = self._user(row["user"])
        known = Application.objects.of(user).filter(vacancy=vacancy)
        if "created_at" in row:
            known = known.filter(created_at=row["created_at"])
        application = known.newest_first().first()
        is_new = application is None
        if application is None:
            at = row.get("created_at", self.now)
            application = operations.receive(
                user=user, vacancy=vacancy, at=at, is_spontaneous=row["is_spontaneous"]
            )
        changed = self._change(application, row, stage, is_new=is_new)
        if is_new:
            self.report.created += 1
        elif changed:
            self.report.updated += 1
            Application.objects.filter(pk=application.pk).update(updated_at=self.now)
        else:
            self.report.unchanged += 1

    def _change(
        self, application: Application, row: dict[str, Any], stage: Stage | None, *, is_new: bool
    ) -> bool:
        changed = False
        if application.is_spontaneous != row["is_spontaneous"]:
            application.is_spontaneous = row["is_spontaneous"]
            application.save(update_fields=["is_spontaneous"])
            changed = True
        latest = application.changes.select_related("stage").last()
        is_there = (
            latest
            and stage
            and (latest.stage == stage if row.get("stage") else latest.stage.status_id == stage.status_id)
        )
        if stage and not is_there:
            StageChange.objects.create(
                application=application,
                stage=stage,
                # what the applicant read in the source is as old as the application; a stage is news
                at=application.created_at if is_new and not row.get("stage") else self.now,
                is_told_at_once=not row.get("stage"),
            )
            changed = True
        if "history" in row:
            changed |= self._steps(application, row["history"] or [])
        return changed

    def _steps(self, application: Application, steps: list[dict[str, Any]]) -> bool:
        """Make the imported steps of `application` those of the source; those made here stay."""
        keys = ("name", "result", "planned_at", "is_visible", "created_at", "updated_at")
        wanted = [self._step(step, application) for step in steps]
        imported = application.history.filter(is_imported=True)
        if Counter(imported.values_list(*keys)) == Counter(
            tuple(getattr(step, key) for key in keys) for step in wanted
        ):
            return False
        imported.delete()
        HistoryEntry.objects.bulk_create(wanted)
        return True

    def _step(self, step: dict[str, Any], application: Application) -> HistoryEntry:
        created_at: datetime = step.get("created_at", application.created_at)
        return HistoryEntry(
            application=application,
            name=step["name"],
            result=step.get("result", ""),
            planned_at=step["planned_at"],
            is_visible=step["is_visible"],
            is_imported=True,
            created_at=created_at,
            updated_at=step.get("updated_at", created_at),
        )

    def _user(self, person: dict[str, Any]) -> Any:
        """The account of that name; it is created if there is none, and left alone if there is."""
        user = User._default_manager.filter(username=User.normalize_username(person["username"])).first()
        if user is None:
            user = User.objects.create_user(person["username"], person["email"], person.get("password"))
            self.report.users += 1
        return user

    def _stage(self, name: str, row: dict[str, Any]) -> Stage | None:
        if row.get("stage"):
            return Stage.objects.filter(name=row["stage"]).first()
        text = row.get("status", "").strip()
        if not text:
            return None
        for status in Status.objects.all():
            if text.casefold() in {getattr(status, f"label_{code}").casefold() for code in LANGUAGES}:
                return status.stages.first() or self._new_stage(text, status)
        self._note(f"{text!r} is a status that was not here: translate it, and map a stage to it", name)
        return self._new_stage(text, Status.objects.create(**{f"label_{site_language()}": text}))

    def _new_stage(self, text: str, status: Status) -> Stage:
        base = text[:190]
        taken = set(Stage.objects.filter(name__startswith=base).values_list("name", flat=True))
        name = text if text not in taken else numbered(base, taken)
        return Stage.objects.create(name=name, status=status, position=Stage.objects.count())

    def _note(self, text: str, name: str) -> None:
        if not any(note.endswith(text) for note in self.report.notes):
            self.report.notes.append(f"{name}: {text}")

    def _refuse(self, name: str, reason: str) -> None:
        self.report.refused += 1
        self.report.failed.append(f"{name}: {reason}")

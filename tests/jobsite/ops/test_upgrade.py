"""From an older schema to the newest and back, and what new migrations must not do to a site that runs."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.utils import timezone

from jobsite.apps import OURS
from jobsite.ops.online_migrations import (
    AddForeignKeyOnline,
    AddIndexOnline,
    DropTriggers,
    ReplaceConstraintOnline,
)
from tests.factories import make_vacancy
from vacancies.models import DailyCount, ListedVacancy, Vacancy
from vacancies.readmodel.changes import apply_due_changes


def migrate(*words: str, **options: Any) -> None:
    call_command("migrate", *words, verbosity=0, **options)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("target", [("vacancies", "0006"), ("jobsite", "0001"), ("jobsite", "zero")])
def test_way_back_and_forth(filters, target):
    """On the way back no trigger is left that names what is gone; on the way forth everything is listed."""
    make_vacancy(title="First")
    try:
        migrate(*target)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE vacancies_vacancy SET title = 'Written meanwhile'")
            cursor.execute("UPDATE vacancies_filter SET label = 'Written meanwhile'")
    finally:
        migrate()
    assert list(ListedVacancy.objects.values_list("pk", flat=True)) == [Vacancy.objects.get().pk]
    make_vacancy(title="Second")
    apply_due_changes(at=timezone.now())
    assert sum(DailyCount.objects.values_list("external", flat=True)) == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["0003_application_form", "0009_files"])
def test_migration_that_was_ended_is_done_again(name):
    """What it made before it was ended is there; nothing says that it was applied."""
    loader = MigrationLoader(connection)
    migration = loader.get_migration("vacancies", name)
    before = loader.project_state(("vacancies", name), at_end=False)

    with connection.schema_editor(atomic=False) as editor:
        migration.apply(before, editor)

    assert not editor.deferred_sql


@pytest.mark.django_db(transaction=True)
def test_table_that_is_made_anew_is_never_missing(filters):
    """SQLite has none between the drop of the old one and the renaming of the new one."""
    if connection.vendor != "sqlite":
        pytest.skip("SQLite's own way")
    make_vacancy(title="First")

    def end(execute: Any, sql: str, *rest: Any) -> Any:
        if 'RENAME TO "vacancies_vacancy"' in sql:
            raise KeyboardInterrupt
        return execute(sql, *rest)

    try:
        with connection.execute_wrapper(end), pytest.raises(KeyboardInterrupt):
            migrate("vacancies", "0005")
        assert Vacancy.objects.get().title == "First"
    finally:
        migrate()


@pytest.mark.django_db(transaction=True)
def test_migration_does_not_wait_at_the_head_of_a_queue(filters, capsys):
    """Who waits for a table has everybody else wait behind."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one lock")
    make_vacancy()
    migrate("vacancies", "0006")
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("UPDATE vacancies_vacancy SET title = title")  # and takes its time
        with pytest.raises(CommandError, match="in use at every try"):
            migrate("vacancies", "0007", lock_timeout=20, tries=2)
        assert "trying again" in capsys.readouterr().err
    finally:
        other.close()
        migrate()
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)
    make_vacancy()
    assert ListedVacancy.objects.count() == 2


# --- What a migration must not do ------------------------------------------------------------------------

# So few rows that nobody notices.
SMALL = {
    "vacancies": {"brand", "filter", "filteroption", "recruiter", "tally"},
    "forms_structure": {"form", "consenttext"},
    "applications": {"status", "stage"},
    "jobsite": {"revision"},
}
# What was looked at, and is right.
KNOWN = {
    # no release has been without it
    ("vacancies", "0005_workplace"): {"filteroption.is_active: older code cannot insert; null or db_default"},
    # one row, of a table that is read again after the triggers are there
    ("vacancies", "0007_listing"): {"data and schema in one transaction"},
}


def dangers(app: str, migration: Any, state: ProjectState) -> Iterator[str]:
    """What in `migration` stops a running site; `state` is what it begins with."""
    operations = migration.operations
    new = {o.name.lower() for o in operations if isinstance(o, migrations.CreateModel)}
    data = [
        o
        for o in operations
        if isinstance(o, migrations.RunPython | migrations.RunSQL) and not isinstance(o, DropTriggers)
    ]
    if data and len(data) < len(operations) and migration.atomic:
        yield "data and schema in one transaction"
    for operation in operations:
        kind = type(operation)
        model = getattr(operation, "model_name", getattr(operation, "name", "")).lower()
        is_big = model not in new and model not in SMALL[app]
        if kind in (migrations.AddIndex, migrations.AddConstraint) and is_big:
            yield f"{kind.__name__} on {model}: use jobsite.ops.online_migrations"
        elif isinstance(operation, migrations.AddField) and model not in new:
            field = operation.field
            if not (field.null or field.many_to_many or field.has_db_default()):
                yield f"{model}.{operation.name}: older code cannot insert; null or db_default"
            is_indexed = field.db_index or field.unique
            if is_big and is_indexed and not isinstance(operation, AddForeignKeyOnline):
                yield f"{model}.{operation.name}: its index keeps writers waiting; see online_migrations"
        elif kind is migrations.AlterField and is_big:
            old = state.apps.get_model(app, model)._meta.get_field(operation.name)
            field = operation.field.clone()
            field.set_attributes_from_name(operation.name)
            is_widened = (
                isinstance(field, models.CharField | models.FileField)
                and old.db_type(connection) != field.db_type(connection)
                and type(old) is type(field)
                and (field.max_length or 0) >= (old.max_length or 0)
            )
            is_other = not field.is_relation and old.db_type(connection) != field.db_type(connection)
            if is_other and not is_widened:
                yield f"{model}.{operation.name}: rewrites the table"
            if old.null and not field.null:
                yield f"{model}.{operation.name}: reads the whole table to forbid null"
            if (field.db_index or field.unique) and not (old.db_index or old.unique):
                yield f"{model}.{operation.name}: its index keeps writers waiting"
        elif kind in (
            migrations.RemoveField, migrations.DeleteModel, migrations.RenameField, migrations.RenameModel,
            migrations.AlterModelTable,
        ):  # fmt: skip
            yield f"{kind.__name__} of {model}: only a release after nobody uses it; then write it down here"
        if kind in (AddIndexOnline, AddForeignKeyOnline, ReplaceConstraintOnline) and migration.atomic:
            yield f"{kind.__name__}: the migration has to be atomic = False"


def all_dangers() -> Iterator[tuple[tuple[str, str], str]]:
    loader = MigrationLoader(None)
    for (app, name), migration in sorted(loader.disk_migrations.items()):
        if app in (*OURS, "jobsite") and not name.startswith("0001_"):
            state = loader.project_state((app, name), at_end=False)
            for danger in dangers(app, migration, state):
                yield (app, name), danger


def test_no_migration_stops_a_running_site():
    found = [(key, danger) for key, danger in all_dangers() if danger not in KNOWN.get(key, set())]
    assert found == []


UNSAFE = [
    (migrations.AddIndex("vacancy", models.Index(fields=["title"], name="x")), "AddIndex on vacancy"),
    (
        migrations.AddConstraint("vacancy", models.CheckConstraint(condition=models.Q(pk=1), name="x")),
        "AddConstraint on vacancy",
    ),
    (migrations.AddField("brand", "x", models.TextField(default="")), "older code cannot insert"),
    (migrations.AddField("vacancy", "x", models.TextField(null=True, db_index=True)), "its index keeps"),
    (migrations.AlterField("vacancy", "is_hot", models.TextField()), "rewrites the table"),
    (migrations.AlterField("vacancy", "title", models.CharField(max_length=9)), "rewrites the table"),
    (migrations.AlterField("vacancy", "publish_from", models.DateTimeField()), "to forbid null"),
    (migrations.AlterField("vacancy", "status", models.CharField(max_length=10, db_index=True)), "its index"),
    (migrations.RemoveField("vacancy", "title"), "RemoveField of vacancy"),
    (migrations.RenameField("vacancy", "title", "name"), "RenameField of vacancy"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "danger"), UNSAFE, ids=lambda each: str(each)[:30])
def test_what_would_stop_one_is_found(operation, danger):
    loader = MigrationLoader(None)
    state = loader.project_state(loader.graph.leaf_nodes("vacancies")[0])
    migration = migrations.Migration("0099_x", "vacancies")
    migration.operations = [operation]
    assert danger in " ".join(dangers("vacancies", migration, state))
    migration.operations = [operation, migrations.RunPython(migrations.RunPython.noop)]
    assert "data and schema" in " ".join(dangers("vacancies", migration, state))

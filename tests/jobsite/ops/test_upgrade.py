"""Migrating forwards and backwards, online operations, and migrations that would stop a running
site.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from jobsite.ops.online_migrations import AddIndexOnline
from tests.factories import make_vacancy
from tests.vacancies.api.site import ON_POSTGRESQL, bucket_counts
from vacancies.choices import Keyword
from vacancies.models import Filter, ListedVacancy, Vacancy


def migrating(test: Any) -> Any:
    """Mark a test that changes the tables."""
    marks = pytest.mark
    return marks.each_database(
        marks.django_db(transaction=True)(marks.slow("runs migrations")(test))
    )


def migrate(*words: str, **options: Any) -> None:
    call_command("migrate", *words, verbosity=0, **options)


@migrating
def test_migrating_backwards_and_forwards(filters):
    """Backwards, no trigger uses a table that is gone;
    forwards, every vacancy is listed and counted.
    """
    make_vacancy(title="First")
    is_restored = not ON_POSTGRESQL  # with its tables, after the test
    try:
        for target in (("vacancies", "0002"), ("vacancies", "zero"), ("jobsite", "zero")):
            migrate(*target)
            tables = set(connection.introspection.table_names())
            assert "forms_structure_form" in tables
            own = {model._meta.db_table for model in apps.get_app_config(target[0]).get_models()}
            assert bool(tables & own) == (target[1] != "zero"), target
            with connection.cursor() as cursor:
                for table in tables & {
                    "vacancies_vacancy",
                    "vacancies_filter",
                    "forms_structure_form",
                }:
                    column = "label = 'Changed'" if "filter" in table else "created_at = created_at"
                    cursor.execute(f"UPDATE {table} SET {column}")
    finally:
        if not is_restored:
            migrate()
    if is_restored:
        return
    assert Filter.objects.count() == len(Keyword)
    make_vacancy(title="Second")
    assert bucket_counts()[0] == ListedVacancy.objects.count() == Vacancy.objects.count() == 1


LAST = MigrationLoader(None).graph.leaf_nodes("vacancies")[0]
OWNER = models.ForeignKey(
    "vacancies.recruiter", models.PROTECT, null=True, related_name="+", db_index=False
)


class Column(migrations.Migration):
    """Of a next release: a foreign key, whose index the next migration creates."""

    dependencies = [LAST]
    operations = [migrations.AddField("vacancy", "owner", OWNER)]


class Online(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "9998_column")]
    operations = [
        AddIndexOnline("vacancy", models.Index(fields=["owner"], name="vacancies_owner")),
        AddIndexOnline("vacancy", models.Index(fields=["location"], name="vacancies_location")),
    ]


@pytest.fixture
def online(filters, monkeypatch):
    """Add two migrations to the vacancies, and migrate them backwards at the end."""
    load_disk = MigrationLoader.load_disk

    def load_another(self: MigrationLoader) -> None:
        load_disk(self)
        self.disk_migrations["vacancies", "9998_column"] = Column("9998_column", "vacancies")
        self.disk_migrations["vacancies", "9999_online"] = Online("9999_online", "vacancies")

    monkeypatch.setattr(MigrationLoader, "load_disk", load_another)
    make_vacancy(title="First")
    yield
    migrate(*LAST)
    assert not indexes() & {"vacancies_location", "vacancies_owner"}


def indexes() -> set[str]:
    """Return the names of the indexes of the vacancies."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, "vacancies_vacancy")
    return {name for name, each in found.items() if each["index"]}


def assert_applied() -> None:
    assert indexes() >= {"vacancies_location", "vacancies_owner"}
    make_vacancy(title="Second")
    assert bucket_counts()[0] == 2


@migrating
@pytest.mark.each_django
def test_online_operations_apply_and_reverse(online):
    migrate()
    assert_applied()
    migrate(*LAST)

    # Interrupted: the operations are applied, but not recorded; the last index may be incomplete.
    Vacancy.objects.filter(title="Second").delete()
    migrate()
    MigrationRecorder(connection).record_unapplied("vacancies", "9999_online")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            name = "'vacancies_location'::regclass"
            cursor.execute(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = {name}")
    migrate()
    assert_applied()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid")
            assert cursor.fetchone() == (0,)


@migrating
def test_migration_does_not_block_a_table_while_it_waits(online, capsys):
    """Whoever waits for a table makes everyone behind it wait: give up quickly, and try again."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite locks the whole database")
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("UPDATE vacancies_vacancy SET title = title")  # a long transaction
        with pytest.raises(CommandError, match="in use at every attempt"):
            migrate("vacancies", "9999", lock_timeout=20, tries=2)
        assert "trying again" in capsys.readouterr().err
    finally:
        other.close()
        migrate()
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)
    assert_applied()


LATER = "only in a release after the last use; then except it here, with the reason"
DESTRUCTIVE = (
    migrations.RemoveField,
    migrations.DeleteModel,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterModelTable,
)
# Tables with so few rows that locking them is not noticed.
SMALL = {
    "vacancies": {"brand", "filter", "filteroption", "recruiter", "bucketcount", "brandlink"},
    "forms_structure": {"form", "consenttext"},
    "applications": {"status", "stage", "emailoptout", "mailtemplate"},
    "jobsite": {"revision"},
}


def dangers(app: str, migration: Any, state: ProjectState) -> Iterator[str]:
    """Yield what in `migration` would stop a running site; `state` is the state before it."""
    operations = migration.operations
    new = {o.name.lower() for o in operations if isinstance(o, migrations.CreateModel)}
    added = {(o.model_name_lower, o.name) for o in operations if isinstance(o, migrations.AddField)}
    kinds = migrations.RunPython | migrations.RunSQL
    data = [o for o in operations if isinstance(o, kinds)]
    if data and len(data) < len(operations) and migration.atomic:
        yield "data and schema in one transaction"
    for operation in operations:
        kind = type(operation)
        model = getattr(operation, "model_name", getattr(operation, "name", "")).lower()
        is_big = model not in new and model not in SMALL[app]
        if kind in (migrations.AddIndex, migrations.AddConstraint) and is_big:
            yield f"{kind.__name__} on {model} blocks writers, see docs/operations/upgrade.md"
        elif isinstance(operation, migrations.AddField) and model not in new:
            field = operation.field
            if not (field.null or field.many_to_many or field.has_db_default()):
                yield f"{model}.{operation.name}: older code cannot insert; null or db_default"
            if is_big and (field.db_index or field.unique):
                yield f"{model}.{operation.name}: its index blocks writers; use AddIndexOnline"
        elif kind is migrations.AlterField and is_big and (model, operation.name) not in added:
            old, field = (
                state.models[app, model].fields[operation.name].clone(),
                operation.field.clone(),
            )
            for each in (old, field):
                each.set_attributes_from_name(operation.name)
            is_text = isinstance(field, models.CharField | models.FileField) and type(old) is type(
                field
            )
            is_widened = is_text and (field.max_length or 0) >= (old.max_length or 0)
            is_other = not field.is_relation and old.db_type(connection) != field.db_type(
                connection
            )
            if is_other and not is_widened:
                yield f"{model}.{operation.name}: rewrites the table"
            if old.null and not field.null:
                yield f"{model}.{operation.name}: reads the whole table to forbid null"
            if (field.db_index or field.unique) and not (old.db_index or old.unique):
                yield f"{model}.{operation.name}: its index blocks writers"
        elif kind in DESTRUCTIVE:
            yield f"{kind.__name__} of {model}: {LATER}"
        if kind is AddIndexOnline and migration.atomic:
            yield "AddIndexOnline: the migration needs atomic = False"


APPS = ("forms_structure", "vacancies", "applications", "jobsite")
# No release used the columns that it removes.
BEFORE_RELEASES = {"0006_no_statistics_by_option"}


def test_no_migration_stops_a_running_site():
    loader, found = MigrationLoader(None), []
    state = ProjectState(real_apps=loader.unmigrated_apps)
    plans = map(loader.graph.forwards_plan, loader.graph.leaf_nodes())
    for app, name in dict.fromkeys(chain.from_iterable(plans)):
        migration = loader.graph.nodes[app, name]
        if app in APPS and not migration.replaces and name not in BEFORE_RELEASES:
            found += [(app, name, danger) for danger in dangers(app, migration, state)]
        state = migration.mutate_state(state, preserve=False)
    assert found == []

    migration = migrations.Migration("0099_x", "vacancies")
    for operation, danger in UNSAFE:
        migration.operations = [operation]
        assert danger in " ".join(dangers("vacancies", migration, state)), operation
        migration.operations = [operation, migrations.RunPython(migrations.RunPython.noop)]
        assert "data and schema" in " ".join(dangers("vacancies", migration, state)), operation


LIMIT = models.CheckConstraint(condition=models.Q(pk=1), name="x")
UNSAFE = [
    (
        migrations.AddIndex("vacancy", models.Index(fields=["title"], name="x")),
        "AddIndex on vacancy",
    ),
    (migrations.AddConstraint("vacancy", LIMIT), "AddConstraint on vacancy"),
    (migrations.AddField("brand", "x", models.TextField(default="")), "older code cannot insert"),
    (
        migrations.AddField("vacancy", "x", models.TextField(null=True, db_index=True)),
        "its index blocks",
    ),
    (migrations.AlterField("vacancy", "is_hot", models.TextField()), "rewrites the table"),
    (
        migrations.AlterField("vacancy", "title", models.CharField(max_length=9)),
        "rewrites the table",
    ),
    (migrations.AlterField("vacancy", "publish_from", models.DateTimeField()), "to forbid null"),
    (
        migrations.AlterField("vacancy", "status", models.CharField(max_length=10, db_index=True)),
        "its index",
    ),
    (migrations.RemoveField("vacancy", "title"), "RemoveField of vacancy"),
    (migrations.RenameField("vacancy", "title", "name"), "RenameField of vacancy"),
]

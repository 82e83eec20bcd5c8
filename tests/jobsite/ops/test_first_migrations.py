"""The first migrations of the apps, and the databases of the code before them."""

from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from jobsite.db.autodetector import Autodetector
from jobsite.db.history import missing_parts, replacements
from jobsite.ops import health

APPS = ("forms_structure", "vacancies", "applications", "jobsite")


def columns(table: str) -> set[tuple[str, bool]]:
    """Return the columns of `table`, and whether they can be null."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_description(cursor, table)
    return {(column.name, bool(column.null_ok)) for column in found}


def constraints(table: str) -> dict[str, Any]:
    with connection.cursor() as cursor:
        return connection.introspection.get_constraints(cursor, table)


@pytest.mark.slow("migrates a database")
@pytest.mark.each_database
def test_tables_are_those_of_the_models(db):
    owned = [
        model
        for app in APPS
        for model in apps.get_app_config(app).get_models(include_auto_created=True)
        if not model._meta.proxy
    ]
    for model in owned:
        table, options = model._meta.db_table, model._meta
        fields = [field for field in options.local_concrete_fields if field.column]
        assert columns(table) == {(field.column, field.null) for field in fields}, table
        found = constraints(table)
        named = {each.name for each in (*options.indexes, *options.constraints)}
        assert named <= found.keys(), table
        indexed = {tuple(each["columns"]) for each in found.values()}
        assert {(f.column,) for f in fields if f.db_index or f.unique} <= {*indexed, ("id",)}, table
        linked = {each["columns"][0] for each in found.values() if each["foreign_key"]}
        assert linked == {f.column for f in fields if f.is_relation and f.db_constraint}, table
    tables = {name for name in connection.introspection.table_names() if name.startswith(APPS)}
    others = {"jobsite_pending_bump"} if connection.vendor == "postgresql" else set()
    assert tables == {model._meta.db_table for model in owned} | others


def test_every_replaced_migration_belongs_to_one_file():
    replaced = [name for names in replacements().values() for name in names if name[0] in APPS]
    assert len(replaced) == len(set(replaced)) == 73
    assert missing_parts([]) == missing_parts(replaced) == []
    for app in APPS:  # a database that the code before them migrated in part
        ours = sorted(name for name in replaced if name[0] == app)
        for part in (ours[:1], ours[:-1]):
            assert missing_parts(part) != [], part


@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
@pytest.mark.slow("runs migrations")
def test_database_of_earlier_code_continues():
    recorder = MigrationRecorder(connection)
    new = [name for name, parts in replacements().items() if parts and name[0] in APPS]
    before = {
        table: (columns(table), constraints(table))
        for table in connection.introspection.table_names()
    }
    for name in new:
        recorder.record_unapplied(*name)
    recorder.record_unapplied("vacancies", "0029_video_validator")
    try:
        assert health.count_unapplied_migrations() == 1
        with pytest.raises(CommandError, match=r"lacks vacancies\.0029_video_validator"):
            call_command("migrate", verbosity=0)
        assert not set(new) & recorder.applied_migrations().keys()

        recorder.record_applied("vacancies", "0029_video_validator")
        assert health.count_unapplied_migrations() == 0
    finally:
        call_command("migrate", verbosity=0)
    assert set(new) <= recorder.applied_migrations().keys()
    assert before == {
        table: (columns(table), constraints(table))
        for table in connection.introspection.table_names()
    }


def test_texts_of_fields_need_no_migration():
    detector = Autodetector(ProjectState(), ProjectState())
    plain = detector.deep_deconstruct(models.CharField(max_length=9))
    texts = {"verbose_name": "name", "help_text": "A text.", "choices": [("a", "A")]}
    assert detector.deep_deconstruct(models.CharField(max_length=9, **texts)) == plain
    assert detector.deep_deconstruct(models.CharField(max_length=10)) != plain
    for name in ("makemigrations", "migrate"):
        assert load_command_class("jobsite", name).autodetector is Autodetector

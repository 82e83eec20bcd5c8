"""Saves of forms: snapshots, conflicts, lost names and refusals."""

import re
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from forms_structure import operations
from forms_structure.models import Form, Snapshot
from forms_structure.structure import StructureError
from tests.forms_structure.strategies import section, specimen, text_field

pytestmark = pytest.mark.django_db

ONE, TWO, THREE = ([section(text_field(name))] for name in ("one", "two", "three"))


def history(form):
    """Return the snapshots of `form`, newest first."""
    return list(form.snapshots.values_list("revision", "structure", "author__username", "origin"))


def everything():
    forms = Form.objects.values_list(
        "pk", "name", "language", "structure", "revision", "updated_at"
    )
    return list(forms), list(Snapshot.objects.values_list("form", "revision", "structure"))


@pytest.fixture
def anna():
    return User.objects.create_user("anna")


# --- create ------------------------------------------------------------------------------------


def test_created_form_has_a_first_snapshot(anna):
    dirty = [section(description="<p>Hi<script>x</script></p>"), *specimen()]
    stored = [section(description="<p>Hi</p>"), *specimen()]

    form = operations.create(
        name="Engineers", structure=dirty, author=anna, origin="demo", language="nl"
    )

    assert form.structure == stored
    form.refresh_from_db()
    assert (form.name, form.language, form.revision, form.structure) == (
        "Engineers",
        "nl",
        1,
        stored,
    )
    assert history(form) == [(1, stored, "anna", "demo")]


def test_name_is_numbered_when_taken():
    cases = (
        ([], "Engineers", "Engineers"),
        (["Engineers"], "Engineers", "Engineers (2)"),
        (["Engineers", "Engineers (2)", "Engineers (3)"], "Engineers", "Engineers (4)"),
        (["Engineers", "Engineers (3)"], "Engineers", "Engineers (2)"),
        (["Engineers (2)"], "Engineers", "Engineers"),
        (["Engineers and more"], "Engineers", "Engineers"),
        (["100%"], "100", "100"),
        (["x" * 190], "x" * 200, "x" * 190 + " (2)"),
    )
    found = []
    for taken, wanted, _ in cases:
        Form.objects.all().delete()
        Form.objects.bulk_create(Form(name=name) for name in taken)
        found.append((taken, wanted, operations.create(name=wanted, structure=[]).name))

    assert found == list(cases)


# --- save --------------------------------------------------------------------------------------


def test_same_structure_changes_nothing(at, time_machine):
    form = operations.create(name="A", structure=specimen())
    before = everything()
    time_machine.shift(60)

    turned = [{key: each[key] for key in reversed(each)} for each in specimen()]
    assert (
        operations.save(form, operations.FormEdit(specimen(), revision=1, name="A", language="en"))
        is False
    )
    assert operations.save(form, operations.FormEdit(turned)) is False
    assert everything() == before


def test_changed_name_or_language_is_a_new_revision(at, time_machine):
    """Otherwise a save with the old values would revert them unnoticed."""
    form = operations.create(name="A", structure=ONE)
    time_machine.shift(60)

    assert operations.save(form, operations.FormEdit(ONE, name="B", language="fr")) is True

    form.refresh_from_db()
    assert (form.name, form.language, form.revision) == ("B", "fr", 2)
    assert (form.updated_at - at).total_seconds() == 60
    assert list(form.snapshots.values_list("revision", "language")) == [(2, "fr"), (1, "en")]
    with pytest.raises(operations.FormConflictError):
        operations.save(form, operations.FormEdit(TWO, revision=1, name="A", language="en"))

    operations.restore(snapshot=form.snapshots.get(revision=1))
    assert (form.name, form.language, form.revision) == ("B", "en", 3)


def test_names_in_use_are_removed_only_if_given_up():
    form = operations.create(name="A", structure=[*ONE, *TWO])

    with pytest.raises(operations.LostNamesError) as refused:
        operations.save(form, operations.FormEdit(THREE, giving_up=["one"]))
    assert refused.value.names == ["two"]
    assert Form.objects.get().structure == [*ONE, *TWO]

    operations.save(form, operations.FormEdit(THREE, giving_up=["one", "two"]))
    assert Form.objects.get().structure == THREE


def test_save_touches_no_other_column_and_keeps_a_state_without_a_snapshot():
    form = Form.objects.create(name="A", structure=ONE)
    Form.objects.update(name="renamed meanwhile", is_default=True)

    operations.save(form, operations.FormEdit(TWO))

    stored = Form.objects.values_list("name", "is_default", "structure").get()
    assert stored == ("renamed meanwhile", True, TWO)
    assert form.name == "renamed meanwhile"
    assert history(form) == [(2, TWO, None, ""), (1, ONE, None, "")]


def test_refused_form_is_not_written():
    form = operations.create(name="A", structure=ONE)
    before = everything()
    wrong = [section(text_field("privacy_consent"))]
    edit = operations.FormEdit(wrong, name="B")
    for act in (
        partial(operations.create, name="B", structure=wrong),
        partial(operations.save, form, edit),
    ):
        with pytest.raises(StructureError) as refused:
            act()
        assert list(refused.value.faults) == ["sections.0.fields.0.name"]

    assert everything() == before


def test_newer_revision_is_overwritten_only_without_a_revision(anna):
    form, stale = operations.create(name="A", structure=ONE), Form.objects.get()
    operations.save(form, operations.FormEdit(TWO, revision=1), author=anna)
    before = everything()

    # Before the names that it would lose.
    with pytest.raises(operations.FormConflictError) as conflict:
        operations.save(stale, operations.FormEdit(THREE, revision=1, name="B", giving_up=[]))

    snapshot = conflict.value.snapshot
    assert (snapshot.revision, snapshot.structure, snapshot.author) == (2, TWO, anna)
    assert everything() == before

    # Without a revision, the last one wins.
    assert operations.save(stale, operations.FormEdit(THREE)) is True
    assert operations.save(stale, operations.FormEdit(ONE, revision=3)) is True
    assert [structure for _, structure, _, _ in history(form)] == [ONE, THREE, TWO, ONE]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks the whole file instead")
def test_forms_are_locked_in_a_fixed_order():
    """The base is locked before its extension, so concurrent saves do not deadlock."""
    base = operations.create(name="Base", structure=ONE)
    more = operations.create(name="More", structure=TWO, extends=base)

    def locked(form, structure):
        with CaptureQueriesContext(connection) as queries:
            operations.save(form, operations.FormEdit(structure))
        locks = [query["sql"] for query in queries if query["sql"].endswith("FOR UPDATE")]
        column = r'"forms_structure_form"\."(id|extends_id)" = (\d+)'
        return [found.groups() for sql in locks if (found := re.search(column, sql))]

    assert locked(base, [*ONE, *THREE])[:2] == [("id", str(base.pk)), ("extends_id", str(base.pk))]
    assert locked(more, [section(text_field("four"))])[:2] == [
        ("id", str(base.pk)),
        ("id", str(more.pk)),
    ]


# --- copy and restore --------------------------------------------------------------------------


def test_copy_has_the_same_sections_and_its_own_history(anna):
    base = operations.create(name="Base", structure=ONE)
    form = operations.create(name="A", structure=TWO, language="de", extends=base)

    copy = operations.copy(form=form, author=anna)

    assert (copy.name, copy.language, copy.extends, copy.is_default) == (
        "Copy of A",
        "en",
        base,
        False,
    )
    assert history(copy) == [(1, TWO, "anna", "copy of A")]
    operations.save(copy, operations.FormEdit(THREE))
    form.refresh_from_db()
    assert (form.structure, len(history(form))) == (TWO, 1)


def test_copies_are_numbered_and_not_default():
    form = Form.objects.create(name="x" * 200, structure=ONE, is_default=True)
    copy, second = operations.copy(form=form), operations.copy(form=form)

    assert (len(copy.name) <= 200, len(history(copy)[0][3]) <= 200, copy.is_default) == (
        True,
        True,
        False,
    )
    assert second.name.endswith("x (2)")


def test_restored_version_becomes_the_newest(anna):
    form = operations.create(name="A", structure=ONE)
    assert operations.restore(snapshot=form.snapshots.get()) is False
    operations.save(form, operations.FormEdit(TWO))

    assert operations.restore(snapshot=form.snapshots.get(revision=1), author=anna) is True

    form.refresh_from_db()
    assert (form.structure, form.revision) == (ONE, 3)
    assert history(form) == [
        (3, ONE, "anna", "version 1 restored"),
        (2, TWO, None, ""),
        (1, ONE, None, ""),
    ]


# --- extensions --------------------------------------------------------------------------------


def test_extension_cannot_use_a_name_of_its_base():
    base = operations.create(name="Base", structure=ONE)
    language = [
        section(text_field("level", type="range", label={"name": "one", "label": "Which?"}))
    ]

    for structure, path in ((ONE, "name"), (language, "label.name")):
        with pytest.raises(StructureError) as refused:
            operations.create(name="More", structure=structure, extends=base)
        assert list(refused.value.faults) == [f"sections.0.fields.0.{path}"]

    more = operations.create(name="More", structure=TWO, extends=base)
    with pytest.raises(StructureError):
        operations.save(more, operations.FormEdit(ONE))
    with pytest.raises(ValidationError):  # an extension of an extension
        operations.create(name="C", structure=THREE, extends=more)
    more.refresh_from_db()
    assert (more.structure, more.revision, Form.objects.count()) == (TWO, 1, 2)


def test_base_cannot_use_a_name_of_an_extension():
    base = operations.create(name="Base", structure=ONE)
    operations.create(name="More", structure=TWO, extends=base)
    before = everything()

    with pytest.raises(StructureError) as refused:
        operations.save(base, operations.FormEdit([*ONE, *TWO]))

    assert refused.value.faults == {
        "sections": "The form “More” is added after this form and also has the names two."
    }
    assert everything() == before
    assert operations.save(base, operations.FormEdit([*ONE, *THREE])) is True
    assert Form.objects.get(name="More").whole_structure == [*ONE, *THREE, *TWO]


def test_base_and_extension_cannot_have_the_same_role():
    def mail(name, **values):
        return [section(text_field(name, type="email", **values))]

    base = operations.create(name="Base", structure=mail("one", role="email"))
    with pytest.raises(StructureError) as refused:
        operations.create(name="More", structure=mail("two", role="email"), extends=base)
    assert list(refused.value.faults) == ["sections.0.fields.0.role"]

    operations.save(base, operations.FormEdit(mail("one")))
    operations.create(name="More", structure=mail("two", role="email"), extends=base)
    with pytest.raises(StructureError) as refused:
        operations.save(base, operations.FormEdit(mail("one", role="email")))
    assert refused.value.faults == {
        "sections": "The form “More” is added after this form and also has the roles email."
    }

"""Constraints of forms, and the selection of the consent text."""

from contextlib import suppress

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.utils import translation

from forms_structure import operations
from forms_structure.models import ConsentText, Form, Snapshot
from forms_structure.structure import StructureError
from tests.factories import make_brand, make_vacancy
from tests.forms_structure.strategies import section, text_field

pytestmark = pytest.mark.django_db

GOOD = [section(text_field("one"))]
OTHER = [section(text_field("two"))]
BAD = [section(text_field("privacy_consent"))]


# --- The column --------------------------------------------------------------------------------


def _bulk_update(form):
    form.structure = BAD
    Form.objects.bulk_update([form], ["structure"])


def _save(form):
    form.structure = BAD
    form.save()


WAYS_IN = {
    "create": lambda form: Form.objects.create(name="B", structure=BAD),
    "save": _save,
    "bulk_create": lambda form: Form.objects.bulk_create([Form(name="B", structure=BAD)]),
    "bulk_update": _bulk_update,
    "update": lambda form: Form.objects.update(structure=BAD),
    "update of nothing at all": lambda form: Form.objects.update(structure=None),
    "update_or_create": lambda form: Form.objects.update_or_create(name="A", defaults={"structure": BAD}),
    "snapshot": lambda form: Snapshot.objects.create(form=form, revision=2, structure=BAD),
}


def test_every_write_validates_the_structure():
    operations.create(name="A", structure=GOOD)

    accepted = []
    for name, write in WAYS_IN.items():
        with suppress(StructureError), transaction.atomic():
            write(Form.objects.get())
            accepted.append(name)

    assert accepted == []
    assert list(Form.objects.values_list("name", "structure")) == [("A", GOOD)]
    assert [snapshot.structure for snapshot in Snapshot.objects.all()] == [GOOD]


def test_every_write_sanitises():
    dirty, clean = [section(description="<p>a<script>x</script></p>")], [section(description="<p>a</p>")]

    Form.objects.bulk_create([Form(name="A", structure=dirty)])
    form = Form.objects.create(name="B")
    Form.objects.filter(pk=form.pk).update(structure=dirty)

    assert [each.structure for each in Form.objects.all()] == [clean, clean]


def test_full_clean_validates_the_structure():
    with pytest.raises(ValidationError) as refused:
        Form(name="A", structure=BAD).full_clean()

    assert list(refused.value.message_dict) == ["structure"]
    Form(name="A").full_clean()  # without sections
    assert Form.objects.create(name="A").structure == []


# --- Constraints -------------------------------------------------------------------------------


def test_at_most_one_default_form():
    Form.objects.create(name="A", is_default=True)
    Form.objects.create(name="B")
    Form.objects.create(name="C")

    with pytest.raises(IntegrityError), transaction.atomic():
        Form.objects.create(name="D", is_default=True)
    with pytest.raises(ValidationError) as refused:
        Form(name="D", is_default=True).full_clean()
    assert refused.value.messages == ["Another form is already the site's form."]


def test_form_cannot_extend_itself():
    form = Form.objects.create(name="A")

    with pytest.raises(IntegrityError), transaction.atomic():
        Form.objects.update(extends=form)
    form.extends = form
    with pytest.raises(ValidationError) as refused:
        form.full_clean()
    assert list(refused.value.message_dict) == ["extends"]


def test_default_form_can_be_extended():
    base = Form.objects.create(name="A", is_default=True, structure=GOOD)

    form = Form(name="B", extends=base, structure=OTHER)
    form.full_clean()
    form.save()
    assert form.whole_structure == [*GOOD, *OTHER]


def test_extension_cannot_be_extended():
    base = Form.objects.create(name="A")
    more = Form.objects.create(name="B", extends=base)
    chain = "Choose a form that is not itself added after another form."

    for form in (Form(name="C", extends=more), base):
        form.extends = form.extends or Form.objects.create(name="D")
        with pytest.raises(ValidationError) as refused:
            form.full_clean()
        assert refused.value.message_dict == {"extends": [chain]}


def test_default_language_is_the_sites(settings):
    for site, expected in (("en", "en"), ("nl-be", "nl"), ("fr", "fr"), ("de-at", "de"), ("es", "en")):
        settings.LANGUAGE_CODE = site
        assert Form(name="A").language == ConsentText(text="I agree").language == expected, site


def test_constraints_of_the_database():
    """Rows that the database refuses without the help of the models."""
    form = operations.create(name="A", structure=GOOD)
    ConsentText.objects.add(language="en", text="a")
    rows = {
        "unknown language": Form(name="B", language="xx"),
        "name that is taken": Form(name="A"),
        "second snapshot of a revision": Snapshot(form=form, revision=1),
        "default form that extends": Form(name="B", extends=form, is_default=True),
        "consent version that is taken": ConsentText(language="nl", text="b", version=2),
    }

    accepted = []
    for name, row in rows.items():
        with suppress(IntegrityError), transaction.atomic():
            row.save(force_insert=True)
            accepted.append(name)

    assert accepted == []


# --- In use ------------------------------------------------------------------------------------


def test_only_an_unused_form_can_be_deleted_with_its_versions():
    def used(name):
        return operations.create(name=name, structure=GOOD)

    make_vacancy(form=used("of a vacancy"))
    make_brand("Globex", form=used("of a brand"))
    Form.objects.create(name="B", extends=used("of an extension"))
    for form in Form.objects.filter(name__startswith="of"):
        with pytest.raises(models.ProtectedError):
            form.delete()
    unused = used("unused")
    unused.delete()

    assert Form.objects.count() == 4
    assert Snapshot.objects.count() == 3


def test_version_is_kept_when_its_author_is_deleted(django_user_model):
    anna = django_user_model.objects.create_user("anna")
    form = operations.create(name="A", structure=GOOD, author=anna)

    anna.delete()

    assert form.snapshots.get().author is None


# --- Consent -----------------------------------------------------------------------------------


def current(language):
    consent = ConsentText.objects.current(language)
    return consent.language, consent.version, consent.text


def test_consent_is_the_newest_text_in_the_language(settings):
    settings.LANGUAGE_CODE = "nl"
    add = ConsentText.objects.add
    texts = ("nl 1", "fr 1", "nl 2", "fr 2")
    assert [add(language=text[:2], text=text).version for text in texts] == [2, 3, 4, 5]

    assert current("nl") == ("nl", 4, "nl 2")
    assert current("fr") == ("fr", 5, "fr 2")
    assert current("de") == ("nl", 4, "nl 2")


def test_default_consent_is_built_in():
    texts = {
        "en": "I agree that my data is kept and used for this application.",
        "nl": "Ik ga ermee akkoord dat mijn gegevens voor deze sollicitatie worden bewaard en gebruikt.",
        "fr": "J’accepte que mes données soient conservées et utilisées pour cette candidature.",
        "de": "Ich bin damit einverstanden, dass meine Daten für diese Bewerbung gespeichert und verwendet "
        "werden.",
    }
    with translation.override("fr"):
        assert [current(language) for language in texts] == [(code, 1, text) for code, text in texts.items()]
    assert not ConsentText.objects.exists()


def test_built_in_consent_is_the_last_fallback(settings):
    settings.LANGUAGE_CODE = "nl"
    ConsentText.objects.add(language="fr", text="fr")

    assert current("de")[:2] == ("de", 1)
    assert current("nl")[:2] == ("nl", 1)

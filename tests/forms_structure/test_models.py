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
    "update_or_create": lambda form: Form.objects.update_or_create(
        name="A", defaults={"structure": BAD}
    ),
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
    dirty, clean = (
        [section(description="<p>a<script>x</script></p>")],
        [section(description="<p>a</p>")],
    )

    Form.objects.bulk_create([Form(name="A", structure=dirty)])
    form = Form.objects.create(name="B")
    assert form.structure == []
    Form.objects.filter(pk=form.pk).update(structure=dirty)

    assert [each.structure for each in Form.objects.all()] == [clean, clean]


# --- Constraints -------------------------------------------------------------------------------


def errors(form):
    with pytest.raises(ValidationError) as refused:
        form.full_clean()
    return refused.value.message_dict


def test_form_is_validated():
    base = Form.objects.create(name="A", is_default=True)
    more = Form(name="B", extends=base, structure=OTHER)
    more.full_clean()  # the default form can be extended
    more.save()
    Form(name="C").full_clean()  # without sections

    assert list(errors(Form(name="C", structure=BAD))) == ["structure"]
    assert errors(Form(name="C", is_default=True)) == {
        "__all__": ["Another form is already the site's form."]
    }
    chain = {"extends": ["Choose a form that is not itself added after another form."]}
    assert errors(Form(name="C", extends=more)) == chain
    base.extends, base.is_default = Form.objects.create(name="D"), False
    assert errors(base) == chain
    itself = Form.objects.create(name="E")
    itself.extends = itself
    assert list(errors(itself)) == ["extends"]


def test_default_language_is_the_sites(settings):
    for site, expected in (
        ("en", "en"),
        ("nl-be", "nl"),
        ("fr", "fr"),
        ("de-at", "de"),
        ("es", "en"),
    ):
        settings.LANGUAGE_CODE = site
        assert Form(name="A").language == ConsentText(text="I agree").language == expected, site


def test_constraints_of_the_database():
    """Rows that the database refuses without the help of the models."""
    form = operations.create(name="A", structure=GOOD)
    ConsentText.objects.add(language="en", text="a")
    Form.objects.create(name="Default", is_default=True)
    rows = {
        "second default form": Form(name="B", is_default=True),
        "form that extends itself": Form(name="B", pk=99, extends_id=99),
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


def test_only_an_unused_form_can_be_deleted_with_its_versions(django_user_model):
    def used(name):
        return operations.create(name=name, structure=GOOD)

    make_vacancy(form=used("of a vacancy"))
    make_brand("Globex", form=used("of a brand"))
    Form.objects.create(name="B", extends=used("of an extension"))
    for form in Form.objects.filter(name__startswith="of"):
        with pytest.raises(models.ProtectedError):
            form.delete()
    anna = django_user_model.objects.create_user("anna")
    operations.create(name="unused", structure=GOOD, author=anna).delete()
    kept = operations.create(name="A", structure=GOOD, author=anna)
    anna.delete()

    assert Form.objects.count() == 5
    assert Snapshot.objects.count() == 4
    assert kept.snapshots.get().author is None


# --- Consent -----------------------------------------------------------------------------------


def current(language):
    consent = ConsentText.objects.current(language)
    return consent.language, consent.version, consent.text


def test_consent_is_the_newest_text_in_the_language(settings):
    settings.LANGUAGE_CODE = "nl"
    add = ConsentText.objects.add
    assert add(language="fr", text="fr 1").version == 2
    # Built in.
    assert [current(language)[:2] for language in ("de", "nl")] == [("de", 1), ("nl", 1)]

    assert [add(language=text[:2], text=text).version for text in ("nl 1", "nl 2", "fr 2")] == [
        3,
        4,
        5,
    ]

    assert current("nl") == current("de") == ("nl", 4, "nl 2")
    assert current("fr") == ("fr", 5, "fr 2")


def test_consent_of_a_brand_comes_before_that_of_the_site(settings):
    """The right employer comes before the right language."""
    settings.LANGUAGE_CODE = "en"
    found = []
    for number, language, text in (
        (None, "en", "site en"),
        (8, "nl", "other"),
        (7, "fr", "brand fr"),
        (None, "nl", "site nl"),
        (7, "en", "brand en"),
        (7, "nl", "brand nl"),
        (7, "nl", ""),
        (7, "en", ""),
    ):
        ConsentText.objects.add(brand_number=number, language=language, text=text)
        found.append(ConsentText.objects.current("nl", 7).text)
    assert found == [
        "site en",
        "site en",
        "site en",
        "site nl",
        "brand en",
        "brand nl",
        "brand en",
        "site nl",
    ]
    assert ConsentText.objects.current("nl").text == "site nl"


def test_default_consent_is_built_in():
    texts = {
        "en": "I agree that my data is kept and used for this application.",
        "nl": (
            "Ik ga ermee akkoord dat mijn gegevens voor deze sollicitatie worden bewaard en "
            "gebruikt."
        ),
        "fr": "J’accepte que mes données soient conservées et utilisées pour cette candidature.",
        "de": "Ich bin damit einverstanden, dass meine Daten für diese Bewerbung gespeichert und "
        "verwendet werden.",
    }
    with translation.override("fr"):
        assert [current(language) for language in texts] == [
            (code, 1, text) for code, text in texts.items()
        ]
    assert not ConsentText.objects.exists()

"""Constraints of forms, and the selection of the consent text."""

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
}  # fmt: skip


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_every_write_validates_the_structure(way_in):
    form = operations.create(name="A", structure=GOOD)

    with pytest.raises(StructureError), transaction.atomic():
        WAYS_IN[way_in](form)

    assert list(Form.objects.values_list("name", "structure")) == [("A", GOOD)]
    assert [snapshot.structure for snapshot in Snapshot.objects.all()] == [GOOD]


def test_every_write_sanitises():
    dirty, clean = [section(description="<p>a<script>x</script></p>")], [section(description="<p>a</p>")]

    Form.objects.bulk_create([Form(name="A", structure=dirty)])
    form = Form.objects.create(name="B")
    Form.objects.filter(pk=form.pk).update(structure=dirty)

    assert [each.structure for each in Form.objects.all()] == [clean, clean]


def test_full_clean_refuses_a_bad_structure():
    with pytest.raises(ValidationError) as refused:
        Form(name="A", structure=BAD).full_clean()

    assert list(refused.value.message_dict) == ["structure"]


def test_form_without_sections_is_a_form():
    Form(name="A").full_clean()

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


def test_default_form_cannot_extend():
    base = Form.objects.create(name="A")

    with pytest.raises(IntegrityError), transaction.atomic():
        Form.objects.create(name="B", extends=base, is_default=True)


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


def test_language_must_be_supported():
    with pytest.raises(IntegrityError), transaction.atomic():
        Form.objects.create(name="A", language="xx")


@pytest.mark.parametrize(
    ("site", "expected"), [("en", "en"), ("nl-be", "nl"), ("fr", "fr"), ("de-at", "de"), ("es", "en")]
)
def test_default_language_is_the_sites(settings, site, expected):
    settings.LANGUAGE_CODE = site

    assert Form(name="A").language == ConsentText(text="I agree").language == expected


def test_name_is_unique():
    Form.objects.create(name="A")

    with pytest.raises(IntegrityError), transaction.atomic():
        Form.objects.create(name="A")


def test_one_snapshot_per_revision():
    form = operations.create(name="A", structure=GOOD)

    with pytest.raises(IntegrityError), transaction.atomic():
        Snapshot.objects.create(form=form, revision=1)


# --- In use ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda form: make_vacancy(form=form),
        lambda form: make_brand("Globex", form=form),
        lambda form: Form.objects.create(name="B", extends=form),
    ],
    ids=["vacancy", "brand", "extension"],
)
def test_form_in_use_cannot_be_deleted(use):
    form = operations.create(name="A", structure=GOOD)
    use(form)

    with pytest.raises(models.ProtectedError):
        form.delete()
    assert Form.objects.filter(pk=form.pk).exists()


def test_deleting_an_unused_form_deletes_its_versions():
    form = operations.create(name="A", structure=GOOD)

    form.delete()

    assert not Snapshot.objects.exists()


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


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I agree that my data is kept and used for this application."),
        ("nl", "Ik ga ermee akkoord dat mijn gegevens voor deze sollicitatie worden bewaard en gebruikt."),
        ("fr", "J’accepte que mes données soient conservées et utilisées pour cette candidature."),
        (
            "de",
            "Ich bin damit einverstanden, dass meine Daten für diese Bewerbung gespeichert und verwendet "
            "werden.",
        ),
    ],
)
def test_default_consent_is_built_in(language, text):
    with translation.override("fr"):
        assert current(language) == (language, 1, text)
    assert not ConsentText.objects.exists()


def test_built_in_consent_is_the_last_fallback(settings):
    settings.LANGUAGE_CODE = "nl"
    ConsentText.objects.add(language="fr", text="fr")

    assert current("de")[:2] == ("de", 1)
    assert current("nl")[:2] == ("nl", 1)


def test_newer_consent_of_another_language_is_not_used():
    ConsentText.objects.add(language="en", text="en")
    ConsentText.objects.add(language="nl", text="nl")

    assert current("en") == ("en", 2, "en")


def test_consent_version_is_unique():
    ConsentText.objects.add(language="en", text="a")

    with pytest.raises(IntegrityError), transaction.atomic():
        ConsentText.objects.create(language="nl", text="b", version=2)

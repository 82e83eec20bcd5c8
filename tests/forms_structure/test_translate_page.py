"""The page of the translations of a form, and saves of the original."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from pytest_django.asserts import assertContains, assertNotContains

from forms_structure import operations
from forms_structure.models import Form
from forms_structure.structure import StructureError
from tests.forms_structure.builder import save
from tests.forms_structure.strategies import section, specimen, text_field

pytestmark = pytest.mark.django_db
LABEL = "sections.0.fields.0.label"


@pytest.fixture(autouse=True)
def languages(settings):
    settings.TEXT_LANGUAGES = ["fr", "de", "it"]


@pytest.fixture
def form():
    structure = [section(text_field(label="City"), description="<p>Two <b>minutes</b>.</p>")]
    return operations.create(name="Engineers", structure=structure, language="en")


def url_of(form, code=""):
    return f"/admin/forms_structure/form/{form.pk}/translate/" + (code and f"?language={code}")


def post(client, form, code="fr", **texts):
    names = {"label": LABEL, "title": "sections.0.title", "text": "sections.0.description"}
    data = {names.get(name, name): text for name, text in texts.items()}
    return client.post(url_of(form, code), data)


def french(form):
    return form.translations.get(language="fr")


def test_language_is_added_translated_and_deleted(anna, form):
    empty = anna.get(url_of(form))
    assertContains(empty, 'value="fr"')
    assertNotContains(empty, 'value="it"')  # forms have four languages
    response = post(anna, form, "", add="fr")
    assert (response.status_code, response["Location"]) == (302, url_of(form, "fr"))
    assertContains(anna.get(url_of(form, "fr")), "3 texts are to translate.")
    assert french(form).structure == form.structure

    response = post(anna, form, label="Ville", text="<p>Deux</p><script>x</script>")
    assert response.status_code == 302
    made = french(form)
    assert made.structure == [
        section(text_field(label="Ville"), title="About you", description="<p>Deux</p>")
    ]
    assert made.marks == {"sections.0.title": "new"}
    assert made.revision == 2
    assert made.snapshots.first().author.username == "anna"
    assertContains(anna.get(url_of(form, "fr")), 'value="Ville"')
    assertContains(anna.get(f"/admin/forms_structure/form/{form.pk}/change/"), "to translate")

    assert post(anna, form, delete="fr").status_code == 302
    assert not form.translations.exists()


def test_change_of_the_original_is_marked_until_somebody_looks(anna, form):
    operations.translate(form, "fr")
    post(anna, form, label="Ville", title="Vous", text="<p>Deux</p>")
    changed = [section(text_field(label="Town"), text_field("zip", label="Zip"), title="You")]
    _status, answer = save(anna, form, changed)
    assert answer["translations"]["label"] == "French (3 to translate)"
    made = french(form)
    assert [field["label"] for field in made.structure[0]["fields"]] == ["Ville", "Zip"]
    assert made.structure[0]["description"] == ""
    assert made.marks == {
        "sections.0.title": "changed",
        LABEL: "changed",
        "sections.0.fields.1.label": "new",
    }
    assertContains(anna.get(url_of(form, "fr")), "The original changed", 2)
    post(anna, form, **{f"right-{LABEL}": "on", "title": "Toi", "was-sections.0.title": "Vous"})
    assert french(form).marks == {"sections.0.fields.1.label": "new"}
    assert french(form).structure[0]["title"] == "Toi"


def test_wrong_texts_are_refused_and_nothing_is_written(anna, form):
    operations.translate(form, "fr")
    response = post(anna, form, label="x" * 2001, title="Vous")
    assertContains(response, "At most 2000 characters", status_code=422)
    response = post(anna, form, label="Ville", **{f"width-{LABEL}": "col-99"})
    assertContains(response, "col-99", status_code=422)
    assert french(form).structure == form.structure
    assert post(anna, form, add="it").status_code in (200, 302)
    assert form.translations.count() == 1
    for code in ("de", "it", "x" * 2000, "%00"):
        assert anna.get(url_of(form, code)).status_code == 404


def test_width_is_its_own(anna, form):
    operations.translate(form, "fr")
    post(anna, form, **{f"width-{LABEL}": "col-6"})
    assert french(form).structure[0]["fields"][0]["css"] == "col-6"
    assert Form.objects.get(pk=form.pk).structure[0]["fields"][0]["css"] == "col-12"


def test_translation_is_no_form_of_its_own(anna, form):
    made = operations.translate(form, "fr")
    assertNotContains(anna.get("/admin/forms_structure/form/"), made.name)
    assert anna.get(f"/admin/forms_structure/form/{made.pk}/change/").status_code == 404
    for code in ("fr", "en"):
        with pytest.raises(ValidationError):
            operations.translate(form, code)
    with pytest.raises(ValidationError):
        operations.translate(made, "de")
    with pytest.raises(StructureError, match="has a translation into this language"):
        operations.save(form, operations.FormEdit(specimen(), language="fr"))
    with pytest.raises(IntegrityError):
        Form.objects.filter(pk=made.pk).update(is_default=True)


def test_copy_has_the_translations(form):
    operations.save_translation(operations.translate(form, "fr"), {LABEL: "Ville"}, author=None)
    made = operations.copy(form=form)
    assert french(made).structure[0]["fields"][0]["label"] == "Ville"
    assert french(made).marks == french(form).marks

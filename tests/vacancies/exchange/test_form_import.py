"""import_forms and export_forms: round trip, sharing of equal forms, and refusals."""

import copy
import json
import os
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError

from forms_structure import operations
from forms_structure.models import ConsentText, Form, Snapshot
from tests.factories import make_brand, make_vacancy
from tests.servers import Instance
from tests.vacancies.commands import run
from vacancies.exchange.service import Service
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db

REAL_DATA = os.environ.get("REAL_DATA")
CONSENT = {
    "name": "privacy_consent",
    "type": "checkbox",
    "label": "Yes",
    "required": True,
    "css": "col-12",
}
NAME = {
    "name": "first_name",
    "type": "text",
    "label": "First name",
    "required": True,
    "css": "col-6",
}
LEVELS = ("geen", "zwak", "matig", "goed", "zeer goed", "moedertaal")
LANGUAGE = {
    "name": "dutch",
    "type": "range",
    "label": "Nederlands",
    "required": False,
    "css": "col-12",
    "options": [
        {"name": "dutch", "value": str(n), "label": label} for n, label in enumerate(LEVELS)
    ],
}


def sections(*fields, consent=CONSENT):
    return [{"title": "You", "description": None, "fields": [*copy.deepcopy(fields), consent]}]


def write(folder, forms, name="forms.json"):
    path = folder / name
    path.write_text(json.dumps({str(pk): {"data": data} for pk, data in forms.items()}))
    return path


def served(client, pk):
    """Return the served form of a vacancy without the consent box."""
    data = client.get(f"/v1/vacancies/{pk}/form").json()["data"]
    data[-1]["fields"].pop()
    return data


def rows():
    return (
        list(Form.objects.order_by("pk").values()),
        list(Snapshot.objects.order_by("pk").values()),
        list(Vacancy.objects.order_by("pk").values_list("pk", "form")),
    )


def counts(total, another=0, changed=0, unchanged=0, refused=0, created=0):
    """Return the summary of an import."""
    return (
        f"{total} vacancies: {another} got another form, {changed} a changed one, {unchanged} "
        f"unchanged, {refused} refused. {created} forms created."
    )


@pytest.fixture
def vacancy():
    return make_vacancy(pk=1, title="Nurse")


def test_roles_survive_an_export_and_a_form_without_roles(client, tmp_path):
    mail = {"name": "mail", "type": "email", "label": "E-mail", "required": True, "css": "col-12"}
    known = operations.create(
        name="Known",
        structure=[{"title": "You", "description": "", "fields": [mail | {"role": "email"}]}],
    )
    make_vacancy(pk=1, form=known)
    for pk in (2, 3):
        make_vacancy(pk=pk)
    before = rows()[:2]

    exported = tmp_path / "exported.json"
    run("export_forms", "--output", exported)
    assert json.loads(exported.read_text())["1"]["data"][0]["fields"][0] == mail | {"role": "email"}
    exported.write_text(exported.read_text().replace('"1"', '"2"', 1))
    run("import_forms", exported)
    assert "role" not in json.dumps(served(client, 1))
    run("import_forms", write(tmp_path, {1: sections(mail), 3: sections(mail)}))

    assert rows()[:2] == before
    assert set(Vacancy.objects.values_list("form", flat=True)) == {known.pk}


def test_equal_forms_are_shared_and_the_import_is_idempotent(client, tmp_path):
    for pk in (1, 2, 3):
        make_vacancy(pk=pk, title=f"Job {pk}")
    path = write(tmp_path, {1: sections(NAME), 2: sections(NAME), 3: sections(NAME, LANGUAGE)})

    first = run("import_forms", path)
    before = rows()
    second = run("import_forms", path)

    english = "I agree that my data is kept and used for this application."
    dutch = (
        "Ik ga ermee akkoord dat mijn gegevens voor deze sollicitatie worden bewaard en gebruikt."
    )
    assert first == (
        0,
        counts(3, another=3, created=2),
        [
            f"note: forms.json {pk}: the consent text is 'Yes' in the source and '{text}' here"
            for pk, text in ((1, english), (3, dutch))
        ],
    )
    assert second[:2] == (0, counts(3, unchanged=3))
    assert rows() == before
    created = Form.objects.order_by("pk").values_list("name", "language")
    assert list(created) == [("Form of Job 1", "en"), ("Form of Job 3", "nl")]
    assert [served(client, pk) for pk in (1, 2, 3)] == [
        [{"title": "You", "description": None, "fields": fields}]
        for fields in ([NAME], [NAME], [NAME, LANGUAGE])
    ]


def test_invalid_form_is_refused_and_others_are_imported(client, tmp_path):
    for pk in (1, 2, 3):
        make_vacancy(pk=pk)
    bad = sections(NAME | {"name": "first name", "css": "wide"}, NAME | {"required": "yes"})
    twice = sections(NAME | {"label": "twice"})
    forms = {1: bad, 2: sections(NAME), 404: sections(NAME), "x": sections(NAME), 3: twice}
    path = write(tmp_path, forms)
    path.write_text(
        path.read_text().replace('"label": "twice"', '"label": "x", "label": "twice"', 1)
    )

    before = rows()
    tried = run("import_forms", path, "--dry-run")[1]
    assert (tried.startswith("Dry run, nothing was written. 5 vacancies"), rows()) == (True, before)
    code, summary, lines = run("import_forms", path)

    assert (code, summary) == (1, counts(5, another=1, refused=4, created=1))
    assert [line for line in lines if line.startswith("failed")] == [
        "failed: forms.json 1: sections.0.fields.0.name: Must be a letter, then up to 63 letters, "
        "digits, hyphens or underscores; received 'first name'.; sections.0.fields.0.css: Must be "
        "one of col-12, col-8, col-6, col-4, col-3; received 'wide'.; "
        "sections.0.fields.1.required: Must be true or false; received 'yes'.",
        (
            "failed: forms.json 404: there is no vacancy with this id here; import the vacancies "
            "first."
        ),
        "failed: forms.json x: there is no vacancy with this id here; import the vacancies first.",
        "failed: forms.json 3: label: Occurs more than once in an object.",
    ]
    assert Vacancy.objects.get(pk=1).form is None
    assert served(client, 2)[0]["fields"] == [NAME]


def test_form_of_one_vacancy_is_updated_with_a_snapshot(vacancy, tmp_path):
    run("import_forms", write(tmp_path, {1: sections(NAME)}))
    pk = Vacancy.objects.get(pk=1).form_id
    assert run("import_forms", write(tmp_path, {1: sections(NAME, LANGUAGE)}))[1] == counts(
        1, changed=1
    )
    form = Form.objects.get()
    assert (form.pk, form.revision, form.language) == (pk, 2, "nl")
    assert list(form.snapshots.values_list("revision", "origin")) == [(2, "import"), (1, "import")]

    lines = run("import_forms", write(tmp_path, {1: sections(LANGUAGE)}))[2]
    assert "note: forms.json 1: “Form of Nurse” was changed and lost the fields first_name" in lines


def test_updated_form_is_not_reused_by_its_old_structure(vacancy, client, tmp_path):
    """The first row updates the form of vacancy 1.
    The second row has the old structure of that form.
    """
    make_vacancy(pk=2)
    run("import_forms", write(tmp_path, {1: sections(NAME), 2: sections(LANGUAGE)}))

    other = NAME | {"name": "other"}
    run("import_forms", write(tmp_path, {1: sections(other), 2: sections(NAME)}))

    assert [served(client, pk)[0]["fields"] for pk in (1, 2)] == [[other], [NAME]]


def test_consent_boxes_and_replaced_labels_are_reported(client, tmp_path):
    for pk in range(1, 6):
        make_vacancy(pk=pk)
    odd = copy.deepcopy(LANGUAGE)
    odd["options"][5]["label"] = "perfect"
    ConsentText.objects.add(language="de", text="Yes")
    forms = {
        1: sections(consent=CONSENT | {"conditional": [NAME | {"on_value": "1"}], "label": None}),
        2: [{"title": "", "description": None, "fields": [NAME]}],
        3: sections(odd),
    }

    _, summary, lines = run("import_forms", write(tmp_path, forms), "--language", "de")

    assert summary == counts(3, another=3, created=3)
    extra = "the key conditional of the consent box was ignored: ours has no such key"
    missing = "no consent box named privacy_consent; pass its name in the source with --consent"
    levels = "the level labels geen, zwak, matig, goed, zeer goed, perfect were replaced by ours"
    expected = {f"1: {extra}", f"2: {missing}", f"3: {levels}"}
    assert {f"note: forms.json {text}" for text in expected} <= set(lines)
    assert served(client, 2)[0]["fields"] == [NAME]
    assert Vacancy.objects.get(pk=3).form.language == "de"

    theirs = sections(NAME, consent=CONSENT | {"name": "gdpr"})
    run("import_forms", write(tmp_path, {4: theirs}), "--consent", "gdpr")
    assert served(client, 4)[0]["fields"] == [NAME]
    generated = [{"title": "Vie privée", "description": None, "fields": [CONSENT]}]
    assert run("import_forms", write(tmp_path, {5: generated}))[1] == counts(1, unchanged=1)
    assert Vacancy.objects.get(pk=5).form is None


@pytest.mark.parametrize("user", ["vacancy", "brand", "site", "extension", "recruiter"])
def test_shared_form_is_not_updated(vacancy, tmp_path, user):
    run("import_forms", write(tmp_path, {1: sections(NAME)}))
    form = Form.objects.get()
    if user == "vacancy":
        make_vacancy(form=form)
    elif user == "brand":
        make_brand("Other", form=form)
    elif user == "site":
        Form.objects.update(is_default=True)
    elif user == "recruiter":  # saved it
        mine = [{"title": "Mine", "description": "", "fields": [NAME]}]
        operations.save(form, operations.FormEdit(mine), author=User.objects.create_user("anna"))
        form.refresh_from_db()
    else:
        operations.create(name="More", structure=[], extends=form)

    run("import_forms", write(tmp_path, {1: sections(LANGUAGE)}))

    assert Vacancy.objects.get(pk=1).form_id != form.pk
    assert Form.objects.get(pk=form.pk).structure == form.structure


def test_form_that_is_served_already_is_not_assigned(tmp_path):
    """Inherited from the brand or the site, or in two parts: nothing is assigned."""
    structure = [{"title": "You", "description": "", "fields": [NAME]}]
    form = operations.create(name="Form", structure=structure, is_default=True, language="fr")
    more = [{"title": "More", "description": "", "fields": [NAME | {"name": "more"}]}]
    extension = operations.create(name="More", structure=more, extends=form, language="fr")
    make_vacancy(pk=1)
    brand = make_brand("Other", form=form)
    make_vacancy(pk=2, brand=brand)
    make_vacancy(pk=3, form=extension)
    ConsentText.objects.add(brand_number=brand.pk, language="fr", text="J’accepte Other.")
    exported = tmp_path / "out.json"

    assert run("export_forms", "--output", exported)[1] == f"3 forms written to {exported}."
    served = json.loads(exported.read_text())
    has_own = [served[pk]["data"][-1]["fields"][-1]["label"] == "J’accepte Other." for pk in "123"]
    assert has_own == [False, True, False]
    before = rows()

    assert run("import_forms", exported) == (0, counts(3, unchanged=3), [])
    assert rows() == before


def test_description_with_a_video_or_escaped_html(vacancy, client, tmp_path):
    data = sections(NAME)
    data[0]["description"] = (
        "&lt;p&gt;Hi&lt;/p&gt;&lt;iframe src=&quot;https://v.example/1&quot;&gt;&lt;/iframe&gt;"
    )
    path, report = write(tmp_path, {1: data}), tmp_path / "report.jsonl"

    refusal = "Contains escaped HTML such as &lt;p&gt;; pass --unescape-html to convert it."
    assert run("import_forms", path)[::2] == (
        1,
        [f"failed: forms.json 1: sections.0.description: {refusal}"],
    )
    run("import_forms", path, "--unescape-html", "--report", report)

    text = '<p>Hi</p><p><a href="https://v.example/1">https://v.example/1</a></p>'
    assert client.get("/v1/vacancies/1/form").json()["data"][0]["description"] == text
    assert json.loads(report.read_text().splitlines()[0]) == {
        "kind": "note",
        "row": "forms.json 1",
        "id": "1",
        "field": "sections.0.description",
        "code": "media_converted",
        "message": "replaced 1 <iframe> by a link to https://v.example/1",
    }


def test_forms_in_ndjson_with_a_limit(tmp_path):
    for pk in (1, 2, 3):
        make_vacancy(pk=pk)
    path = tmp_path / "forms.ndjson"
    path.write_text("\n".join(json.dumps({str(pk): {"data": sections(NAME)}}) for pk in (1, 2, 3)))

    assert run("import_forms", path, "--limit", 2)[1].startswith("2 vacancies: 2 got another form")
    assert run("import_forms", path)[1].startswith(counts(3, another=1, unchanged=2)[:-16])


def test_file_or_row_without_forms_is_refused(vacancy, tmp_path):
    path = tmp_path / "forms.json"
    for content, reason in (
        ("[]", 'does not contain forms; expected {"<vacancy id>": {"data": [...]}}.'),
        ("{", "not JSON (Expecting property name"),
        ("[" * 100_000, "not JSON (maximum recursion depth exceeded"),
    ):
        path.write_text(content)
        code, _, [line] = run("import_forms", path)
        assert (code, line.startswith(f"failed: {path}: {reason}")) == (1, True), line
    for form in (None, 7, {"data": None}, {"data": {}}, {"sections": []}):
        path.write_text(json.dumps({"1": form}))
        received = form.get("data") if isinstance(form, dict) else form
        refusal = f"failed: forms.json 1: sections: Must be a list; received {received!r}."
        assert run("import_forms", path)[::2] == (1, [refusal])
    path.write_text(json.dumps({"1": []}))
    assert run("import_forms", path)[0] == 0


def test_export_equals_the_served_forms(client):
    form = operations.create(
        name="Form", structure=[{"title": "", "description": "", "fields": [NAME]}], language="nl"
    )
    make_vacancy(pk=5, form=form)
    make_vacancy(pk=6)

    assert json.loads(run("export_forms")[1]) == {"5": client.get("/v1/vacancies/5/form").json()}
    assert run("export_forms", 5)[1] == run("export_forms")[1]
    with pytest.raises(CommandError, match="There is no vacancy with a form and the id 6"):
        run("export_forms", 6)


@pytest.mark.slow("imports from a running service")
@pytest.mark.each_database
def test_forms_are_imported_from_a_service(client, tmp_path):
    source = Instance(tmp_path / "source")
    items = [
        json.loads((Path(__file__).parents[2] / "contract/v1/vacancy-full.json").read_text())[
            "data"
        ]
    ]
    items.append(items[0] | {"id": 102, "slug": "x-(102)", "reference": None})
    (tmp_path / "items.json").write_text(json.dumps({"data": items}))
    source.manage("import_vacancies", str(tmp_path / "items.json"))
    source.manage("import_forms", str(write(tmp_path, {101: sections(NAME, LANGUAGE)})))
    for pk in (101, 102):
        make_vacancy(pk=pk)

    with source.serve() as url:
        first, again = run("import_forms", url), run("import_forms", url)

    assert first[:2] == (0, counts(2, another=1, unchanged=1, created=1))
    # There it has none either, and may get the brand's.
    assert Vacancy.objects.get(pk=102).form is None
    assert again[1].startswith("2 vacancies: 0 got another form, 0 a changed one, 2 unchanged")
    assert served(client, 101)[0]["fields"] == [NAME, LANGUAGE]


@pytest.mark.slow("imports from a running service")
@pytest.mark.each_database
@pytest.mark.skipif(not REAL_DATA, reason="REAL_DATA names no folder")
def test_real_forms_are_served_unchanged(client):
    path = Path(REAL_DATA) / "forms.v1.json"
    forms = json.loads(path.read_text())
    for pk in forms:
        make_vacancy(pk=pk)

    assert run("import_forms", path)[0] == 0
    before = rows()
    assert run("import_forms", path)[1] == counts(57, unchanged=57)

    assert rows() == before
    for pk, form in forms.items():
        form["data"][-1]["fields"].pop()
        assert json.dumps(served(client, pk)) == json.dumps(form["data"])


def test_translations_are_exported_and_imported_with_their_form(vacancy, client, tmp_path):
    structure = [{"title": "You", "description": "", "fields": [NAME]}]
    form = operations.create(name="Form", structure=structure, language="en")
    Vacancy.objects.filter(pk=vacancy.pk).update(form=form)
    french = operations.translate(form, "fr")
    operations.save_translation(french, {"sections.0.fields.0.label": "Prénom"}, author=None)
    exported = run("export_forms")[1]
    assert [*json.loads(exported)[str(vacancy.pk)]["translations"]] == ["fr"]
    path = tmp_path / "forms.json"
    path.write_text(exported)
    Vacancy.objects.update(form=None)
    Form.objects.exclude(translation_of=None).delete()
    Form.objects.all().delete()

    run("import_forms", path, "--language", "en")
    form = Form.objects.originals().get()
    made = form.translations.get()
    assert made.structure[0]["fields"][0]["label"] == "Prénom"
    assert made.marks == {"sections.0.title": "new"}
    before = rows()
    run("import_forms", path, "--language", "en")
    assert rows() == before


def test_service_gives_the_languages_of_its_forms(settings):
    settings.TEXT_LANGUAGES = ["nl", "fr", "de"]
    asked = []

    class Source(Service):
        def _get(self, path, query=None):
            language = (query or {}).get("language", "")
            if path != "/v1/vacancies/5/form":
                item = {"data": [{"id": 5}], "meta": {"total": 1, "last_page": 1}}
                return (200, item) if path == "/v1/vacancies" else (404, {})
            asked.append(language)
            return (400, {}) if language == "de" else (200, {"data": ["own", language == "fr"]})

    [row] = Source("http://example.org").forms()
    assert (row.data, row.translations) == (["own", False], {"fr": ["own", True]})
    assert asked == ["", "en", "nl", "fr", "de"]


@pytest.mark.parametrize(
    ("translations", "note"),
    [
        (5, "Must be an object of forms by language"),
        ({"xx": []}, "Is no other language of forms"),
        ({"en": []}, "Is no other language of forms"),
        ({"fr": []}, "The original has 1 here, the translation 0."),
        ({"fr": [5]}, "sections.0"),
    ],
)
def test_what_is_no_translation_is_noted(vacancy, tmp_path, translations, note):
    path = tmp_path / "forms.json"
    row = {"data": sections(NAME), "translations": translations}
    path.write_text(json.dumps({str(vacancy.pk): row}))
    assert note in " ".join(map(str, run("import_forms", path, "--language", "en")))
    assert Form.objects.count() == 1

"""The tabs of other languages on the page of a vacancy, and the list."""

import re

import pytest
from django.contrib.admin import site
from django.utils import timezone

from tests.factories import make_text, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, opened, page, posted_by
from tests.vacancies.commands import run
from vacancies.admin.spreadsheets.columns import Sheet, VacancyTable
from vacancies.admin.spreadsheets.rows import Import, planned
from vacancies.models import Autosave, Vacancy, VacancyTemplate, VacancyText
from vacancies.quality.warnings import count_warnings

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


@pytest.fixture(autouse=True)
def languages(settings):
    settings.TEXT_LANGUAGES = ["nl", "fr"]


@pytest.fixture
def vacancy():
    return make_vacancy(title="Nurse", description="<p>Care</p>")


def open_tab(client, vacancy, code="fr", button="_open_text", **typed):
    """Press the button of a language. Return what the page that comes back would post."""
    answer = client.post(page(vacancy), opened(client, page(vacancy)) | typed | {button: code})
    assert answer.status_code == 200
    return posted_by(answer.content.decode())


def save(client, vacancy, data):
    answer = client.post(page(vacancy), data | {"_save": "1"})
    assert answer.status_code == 302, re.findall("errorlist.*", answer.content.decode())
    return messages_of(answer)


@pytest.mark.slow("opens many pages")
def test_fields_of_a_language_are_there_once_its_tab_is_open(admin_client, vacancy, settings):
    make_text(vacancy, "fr", is_ready=False, title="Infirmier")
    html = admin_client.get(page(vacancy)).content.decode()
    assert "text_fr-" not in html
    assert re.findall(r'name="_open_text" value="(\w+)".*?tabs-count">(\w+)<', html) == [
        ("nl", "missing"),
        ("fr", "unfinished"),
    ]
    data = open_tab(admin_client, vacancy, title="Typed")
    assert (data["title"], data["text_fr-title"]) == ("Typed", "Infirmier")
    settings.TEXT_LANGUAGES = []
    assert "_open_text" not in admin_client.get(page(vacancy)).content.decode()


@pytest.mark.slow("opens many pages")
def test_a_text_is_translated_and_marked_ready(admin_client, vacancy):
    data = open_tab(admin_client, vacancy)
    data |= {"text_fr-title": "Infirmier", "text_fr-is_ready": "on"}
    assert "French is not ready: Description is missing." in save(admin_client, vacancy, data)
    data = open_tab(admin_client, vacancy, button="_copy_text")
    assert (data["text_fr-title"], data["text_fr-description"]) == ("Infirmier", "<p>Care</p>")
    data |= {"text_fr-description": "<p>Soins</p>", "text_fr-is_ready": "on"}
    save(admin_client, vacancy, data)
    text = VacancyText.objects.get()
    assert (text.texts, text.is_ready) == (
        {"title": "Infirmier", "description": "<p>Soins</p>"},
        True,
    )
    save(admin_client, vacancy, opened(admin_client, page(vacancy)) | {"title": "Head nurse"})
    text.refresh_from_db()
    assert text.is_ready
    assert VacancyText.objects.outdated()
    data = open_tab(admin_client, vacancy) | {"text_fr-title": "Infirmier chef"}
    save(admin_client, vacancy, data)
    assert VacancyText.objects.outdated()
    data = open_tab(admin_client, vacancy) | {"text_fr-is_confirmed": "on"}
    save(admin_client, vacancy, data)
    assert not VacancyText.objects.outdated()


@pytest.mark.slow("opens many pages")
def test_saves_of_two_languages_are_merged(admin_client, vacancy):
    dutch = open_tab(admin_client, vacancy, "nl") | {"text_nl-title": "Verpleger"}
    french = open_tab(admin_client, vacancy) | {"text_fr-title": "Infirmier"}
    save(admin_client, vacancy, dutch)
    save(admin_client, vacancy, french)
    titles = VacancyText.objects.values_list("language", "texts__title")
    assert dict(titles) == {"nl": "Verpleger", "fr": "Infirmier"}
    other = french | {"text_fr-title": "Soignant"}
    answer = admin_client.post(page(vacancy), other | {"_save": "1"})
    assert (answer.status_code, VacancyText.objects.filter(texts__title="Soignant").count()) == (
        409,
        0,
    )


def test_unsaved_text_comes_back(admin_client, admin_user, vacancy):
    data = open_tab(admin_client, vacancy) | {"text_fr-title": "Infirmier"}
    Autosave.objects.store(
        user=admin_user,
        vacancy=vacancy.pk,
        page=data["page"],
        data={name: each if isinstance(each, list) else [each] for name, each in data.items()},
        at=timezone.now(),
    )
    html = admin_client.get(page(vacancy), follow=True).content.decode()
    assert posted_by(html)["text_fr-title"] == "Infirmier"


@pytest.mark.slow("opens many pages")
@pytest.mark.parametrize("choice", ["exchange", "delete"])
def test_language_of_a_translation_asks(admin_client, vacancy, choice):
    make_text(vacancy, "fr", title="Infirmier")
    data = opened(admin_client, page(vacancy)) | {"language": "fr"}
    answer = admin_client.post(page(vacancy), data | {"_save": "1"})
    assert answer.status_code == 200
    assert "Choose what happens to the translation." in answer.content.decode()
    save(admin_client, vacancy, data | {"text_exchange": choice})
    vacancy.refresh_from_db()
    texts = dict(VacancyText.objects.values_list("language", "texts__title"))
    found = (vacancy.language, vacancy.title, texts)
    if choice == "delete":
        assert found == ("fr", "Nurse", {})
    else:
        assert found == ("fr", "Infirmier", {"en": "Nurse"})
        assert VacancyText.objects.get().is_ready


def test_text_from_before_an_exchange_is_no_part_of_the_other_language(admin_client, vacancy):
    make_text(vacancy, "fr", title="Infirmier")
    late = opened(admin_client, page(vacancy)) | {"offer": "<p>English</p>"}
    data = opened(admin_client, page(vacancy)) | {"language": "fr", "text_exchange": "exchange"}
    save(admin_client, vacancy, data)
    answer = admin_client.post(page(vacancy), late | {"_save": "1"})
    assert answer.status_code == 409
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.offer) == ("Infirmier", "")


def test_templates_keep_translations(admin_client, vacancy):
    make_text(vacancy, "fr", title="Infirmier")
    url = f"{LIST}{vacancy.pk}/template/"
    admin_client.post(url, {"name": "Care", "brand": vacancy.brand_id})
    template = VacancyTemplate.objects.get()
    html = admin_client.get(f"{LIST}add/?template={template.pk}").content.decode()
    data = posted_by(html)
    assert (data["text_fr-title"], data["text_fr-is_ready"]) == ("Infirmier", "on")


@pytest.mark.slow("opens many pages")
def test_list_shows_and_finds_languages(admin_client, vacancy):
    make_text(vacancy, "fr")
    make_text(vacancy, "nl", is_ready=False)
    other = make_vacancy(language="fr", title="Autre")

    def found(query):
        rows = admin_client.get(f"{LIST}?{query}").context_data["cl"].result_list
        return {row.title for row in rows}

    assert found("ready=fr") == {"Nurse", "Autre"}
    assert found("not_ready=nl") == {"Nurse", "Autre"}
    assert found("not_ready=fr") == found("outdated=fr") == set()
    Vacancy.objects.filter(pk=vacancy.pk).update(title="Head nurse")
    assert found("outdated=fr") == found("attention=outdated-text") == {"Head nurse"}
    [counts] = count_warnings(Vacancy.objects.all(), at=timezone.now()).values()
    assert counts["outdated-text"] == 1
    _code, _out, lines = run("lint_vacancies", "--rule", "outdated-text")
    assert "[outdated-text]" in lines[0]
    assert other.pk


def test_publishing_and_preview_show_each_ready_text(admin_client, vacancy):
    vacancy.status = "draft"
    vacancy.save()
    make_text(vacancy, "fr", title="Infirmier")
    make_text(vacancy, "nl", is_ready=False, title="Geheim")
    page = admin_client.get(f"{LIST}{vacancy.pk}/publish/")
    html = page.content.decode()
    framed = [admin_client.get(url).content.decode() for _name, url in page.context["previews"]]
    titles = [re.findall(">(.*)</h1>", each)[0] for each in framed]
    assert titles == ["Nurse", "Infirmier"]
    assert not [each for each in (html, *framed) if "Geheim" in each]
    assert "The translation into Dutch is not ready" in html
    for code, title in (("fr", "Infirmier"), ("nl", "Nurse"), ("x", "Nurse"), ("en", "Nurse")):
        answer = admin_client.get(f"{LIST}{vacancy.pk}/preview/?language={code}", follow=True)
        assert f">{title}</h1>" in answer.content.decode(), code


def test_spreadsheets_have_the_languages_that_are_filled(vacancy, rf, admin_user):
    assert not [name for name in exported([vacancy]) if "(fr)" in name]
    make_text(vacancy, "fr", title="Infirmier")
    sheet = exported([vacancy])
    assert (sheet["Title (fr)"], sheet["Ready (fr)"]) == ("Infirmier", "yes")
    assert "Title (nl)" not in sheet


def exported(vacancies):
    """Return the cells of the first row of an export, by heading."""
    table = VacancyTable([each.pk for each in vacancies], "en")
    [names], [row] = table.batches()
    return dict(zip(names, row, strict=True))


def test_spreadsheet_changes_texts(admin_client, admin_user, rf, vacancy):
    make_text(vacancy, "fr", title="Infirmier")
    request = rf.post("/")
    request.user = admin_user
    admin = site.get_model_admin(Vacancy)
    names = ["ID", "Title (fr)", "Description (FR)", "Ready (fr)", "Title (nl)"]
    cells = [str(vacancy.pk), "Soignant", "", "no", "Verpleger"]
    rows, done = planned(admin, request, Sheet.of([(1, names), (2, cells)]))
    assert done == []
    work = Import(admin, request)
    [result] = work.preview(rows)
    assert (result.errors, [each.name for each in result.differences]) == (
        [],
        ["text_nl", "text_fr"],
    )
    work.run(rows, {"2": result.digest(rows[0].texts)})
    texts = {t.language: (t.texts, t.is_ready) for t in VacancyText.objects.all()}
    assert texts == {
        "fr": ({"title": "Soignant"}, False),
        "nl": ({"title": "Verpleger"}, False),
    }

"""Texts in other languages in files and services."""

import pytest

from tests.factories import make_brand
from tests.vacancies.manage.client import Api, make_integration
from vacancies.exchange.importer import VacancyImporter
from vacancies.exchange.service import Service
from vacancies.exchange.sources import SourceRow
from vacancies.models import Vacancy, VacancyText

pytestmark = pytest.mark.django_db
FR = {"title": "Infirmier", "description": "<p onclick=x>Soins</p>", "ready": True}


@pytest.fixture(autouse=True)
def languages(settings):
    settings.TEXT_LANGUAGES = ["nl", "fr"]


def imported(**item):
    importer = VacancyImporter()
    whole = {"id": 7, "title": "Nurse", "description": "<p>Care</p>", "language": "en"} | item
    importer.import_rows([SourceRow("row 1", whole)])
    return importer.report


def stored():
    return {t.language: (t.texts, t.is_ready) for t in VacancyText.objects.order_by("language")}


def test_file_has_translations():
    texts = {"title": "Infirmier", "description": "<p>Soins</p>"}
    assert imported(translations={"fr": FR}).created == 1
    assert stored() == {"fr": (texts, True)}
    assert imported(translations={"fr": FR}).unchanged == 1
    assert imported().unchanged == 1
    report = imported(translations={"nl": {"title": "Verpleger", "ready": True}})
    assert report.updated == 1
    assert stored()["nl"] == ({"title": "Verpleger"}, False)
    imported(translations={"fr": None})
    assert [*stored()] == ["nl"]
    imported(translations={"nl": {"description": "<p>Zorg</p>", "ready": True}})
    assert stored()["nl"] == ({"title": "Verpleger", "description": "<p>Zorg</p>"}, True)
    assert not VacancyText.objects.outdated()


@pytest.mark.parametrize(
    "translations",
    [
        {"fr": {"title": "x" * 301}},
        {"fr": {"title": 5}},
        {"fr": {"titel": "x"}},
        {"fr": {"title": "x", "ready": "yes"}},
        {"fr": "x"},
        {"fr": {"offer": "x" * 100_001}},
        {"en": {"title": "x"}},
        ["fr"],
        "fr",
    ],
)
def test_refused_translations(translations):
    assert imported(translations=translations).refused
    assert not Vacancy.objects.exists()


def test_language_that_the_site_does_not_have_is_noted():
    report = imported(translations={"pl": {"title": "x"}, "e" * 2000: None})
    assert report.created == 1
    assert not stored()


def test_management_interface_writes_and_shows_translations(settings):
    make_brand("Acme", slug="acme")
    api = Api(make_integration())
    body = {"title": "Nurse", "description": "<p>Care</p>", "translations": {"fr": FR}}
    answer = api.put("a1", body)
    assert answer.status_code == 201, answer.content
    item = answer.json()["data"]
    assert item["translations"]["fr"]["title"] == "Infirmier"
    assert item["languages"] == ["en", "fr"]
    changed = {"translations": {"fr": {"title": "Soignant"}}}
    assert api.put("a1", changed).status_code == 200
    assert stored()["fr"][0] == {"title": "Soignant", "description": "<p>Soins</p>"}
    for code, pointer in (("pl", "/translations/pl"), ("en", "/language")):
        answer = api.put("a1", {"translations": {code: {"title": "x"}}})
        assert answer.status_code == 422
        [error] = answer.json()["errors"]
        assert error["pointer"] == pointer
    assert api.put("a1", {"translations": {"fr": {"titel": "x"}}}).status_code in (400, 422)
    assert api.put("a1", {"translations": {"fr": None}}).status_code == 200
    assert not stored()
    settings.TEXT_LANGUAGES = []
    assert "translations" not in api.get("vacancies/a1").json()["data"]


def test_lists_of_a_service_are_read_once_more_for_each_language(monkeypatch):
    item = {"id": 7, "title": "Nurse", "title_internal": "Nurse", "description": "<p>Care</p>"}
    item |= {"language": "en", "languages": ["en", "fr", "pl"]}
    french = item | {"title": "Infirmier", "title_internal": "Infirmier", "language": "fr"}
    alone = item | {"id": 8, "languages": ["en"]}
    requests = []

    def get(self, path, query=None):
        requests.append((path, (query or {}).get("language")))
        if "internal" in path:
            return 404, {}
        items = [french if (query or {}).get("language") == "fr" else item, alone]
        return 200, {"data": items, "meta": {"total": 2, "last_page": 1}}

    monkeypatch.setattr(Service, "_get", get)
    for _ in range(2):
        requests.clear()
        service, importer = Service("https://x.test"), VacancyImporter()
        importer.import_rows(service.rows())
        importer.import_rows(service.translations())
    assert [each for each in requests if "internal" not in each[0]] == [
        ("/v1/vacancies", None),
        ("/v1/vacancies", "fr"),
    ]
    assert stored() == {"fr": ({"title": "Infirmier", "description": "<p>Care</p>"}, True)}
    assert (importer.report.created, importer.report.updated) == (0, 0)

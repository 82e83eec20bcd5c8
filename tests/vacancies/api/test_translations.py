"""Vacancies with texts in several languages."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobsite.site.sitemaps import BLOCK
from tests.applications.submissions.sending import make_form, make_open_vacancy
from tests.factories import make_text, make_vacancy
from tests.vacancies.api.site import ON_POSTGRESQL, Site, differences
from vacancies.api.rendered_items import stored_version
from vacancies.models import RenderedItem, Vacancy, VacancyText

pytestmark = pytest.mark.django_db
LISTS = ("/v1/vacancies", "/v1/vacancies/hot", "/v1/vacancies/internal")


@pytest.fixture
def languages(settings):
    settings.TEXT_LANGUAGES = ["nl", "fr", "de"]
    settings.CAREER_SITE = True


@pytest.fixture
def translated(languages):
    """A vacancy in Dutch and French, with a German text that is not ready."""
    vacancy = make_vacancy(
        title="Verpleger", title_internal="Verpleger A", profile="<p>Jij</p>", language="nl"
    )
    texts = {"title": "Infirmier", "title_internal": "Infirmier A", "profile": "<p>Vous</p>"}
    make_text(vacancy, "fr", **texts)
    make_text(vacancy, "de", is_ready=False, title="Pfleger")
    return vacancy


def items(client, query="", path="/v1/vacancies"):
    return {each["id"]: each for each in client.get(f"{path}{query}").json()["data"]}


def test_item_is_complete_in_one_language(client, translated):
    make_vacancy(title="Nurse")
    plain, french = items(client), items(client, "?language=fr")
    assert [*plain] == [*french]
    before, after = plain[translated.pk], french[translated.pk]
    assert {name: after[name] for name in after if after[name] != before[name]} == {
        "title": "Infirmier",
        "title_internal": "Infirmier A",
        "slug": f"infirmier-({translated.pk})",
        "description": f"<p>fr {translated.pk}</p>",
        "profile": "<p>Vous</p>",
        "language": "fr",
        "url": f"http://testserver/fr/jobs/{translated.pk}-infirmier",
    }
    assert before["languages"] == after["languages"] == ["nl", "fr"]
    assert [*before][-1] == "languages"
    others = [plain[pk] for pk in plain if pk != translated.pk]
    assert others == [french[pk] for pk in plain if pk != translated.pk]
    assert others[0]["languages"] == ["en"]
    assert items(client, "?language=de") == plain
    assert items(client, "?language=nl") == plain
    single = client.get(f"/v1/vacancies/{translated.pk}?language=fr").json()["data"]
    assert single == after
    sparse = items(client, "?language=fr&fields=id,title,languages")[translated.pk]
    assert sparse == {"id": translated.pk, "title": "Infirmier", "languages": ["nl", "fr"]}


def test_texts_are_never_a_mixture(client, translated):
    Vacancy.objects.filter(pk=translated.pk).update(offer="<p>Aanbod</p>")
    VacancyText.objects.filter(language="fr").update(texts={"title": "Infirmier"})
    item = items(client, "?language=fr")[translated.pk]
    assert (item["title"], item["title_internal"], item["slug"]) == (
        "Infirmier",
        "Infirmier",
        f"infirmier-({translated.pk})",
    )
    assert (item["description"], item["offer"], item["profile"]) == (None, None, None)


@pytest.mark.parametrize("value", ["EN", "en-GB", "xx", "x" * 2000, "", "nl,fr", "\u202efr"])
def test_other_languages_are_refused(client, translated, value):
    paths = [f"/v1/vacancies/{translated.pk}{rest}" for rest in ("", "/form", "/form/schema")]
    for path in (*LISTS, "/v1/filters", "/v1/vacancies/changes", *paths):
        answer = client.get(path, {"language": value})
        [error] = answer.json()["errors"]
        assert answer.status_code == 400, path
        assert (error["parameter"], error["allowed"]) == ("language", ["en", "nl", "fr", "de"])
        assert client.get(f"{path}?language=fr&language=fr").status_code == 400
        for name in ("lang", "locale", "hl"):
            [error] = client.get(path, {name: "fr"}).json()["errors"]
            assert error["allowed"] == ["language"]


def test_without_languages_the_parameter_is_a_mistake(client, settings):
    vacancy = make_vacancy()
    make_text(vacancy, "fr", title="Infirmier")
    [error] = client.get("/v1/vacancies?language=fr").json()["errors"]
    assert error["allowed"] == ["filter[language]"]
    assert items(client)[vacancy.pk]["languages"] == ["en"]
    assert not items(client, "?filter[language]=fr")
    assert not items(client, "?filter[search]=infirmier")
    assert client.get("/v0.1/vacancies?language=fr").status_code == 400
    settings.TEXT_LANGUAGES = ["fr"]
    assert items(client)[vacancy.pk]["languages"] == ["en", "fr"]
    assert items(client, "?filter[language]=fr")


def test_filter_and_counts_have_each_language(client, translated):
    make_vacancy(language="fr")
    assert len(items(client, "?filter[language]=fr")) == 2
    assert [*items(client, "?filter[language]=nl&language=fr")] == [translated.pk]
    assert not items(client, "?filter[language]=de")
    filters = client.get("/v1/filters?language=nl").json()["data"]
    [options] = [each["options"] for each in filters if each["keyword"] == "language"]
    found = {each["value"]: (each["label"], each["count"]) for each in options}
    assert found == {"fr": ("Frans", 2), "nl": ("Nederlands", 1)}


def test_search_finds_the_words_of_each_ready_text(client, translated):
    for words in ("infirmière", "verplegers", '"infirmier a"', "infirmier verpleger"):
        [item] = items(client, f"?filter[search]={words}").values()
        assert (item["title"], item["language"]) == ("Verpleger", "nl"), words
    for words in ("pfleger", "pflegerin", f'"de {translated.pk}"'):
        assert not items(client, f"?filter[search]={words}"), words
    phrase = f'"fr {translated.pk}"'
    assert items(client, f"?filter[search]={phrase}&language=fr")
    VacancyText.objects.filter(language="de").update(is_ready=True)
    assert items(client, "?filter[search]=pfleger")


@pytest.mark.django_db(transaction=True)
def test_feed_has_a_cursor_for_each_language(client, translated):
    first = client.get("/v1/vacancies/changes?language=fr").json()
    assert first["data"][0]["vacancy"]["title"] == "Infirmier"
    assert "language=fr" in first["links"]["next"]
    assert client.get(first["links"]["next"]).status_code == 200
    other = client.get("/v1/vacancies/changes", {"since": first["meta"]["cursor"]})
    assert other.status_code == 400
    VacancyText.objects.filter(language="fr").update(texts={"title": "Soignant"})
    [change] = client.get(first["links"]["next"]).json()["data"]
    assert change["vacancy"]["title"] == "Soignant"


@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
@pytest.mark.slow("many requests")
def test_stored_items_and_lists_follow_the_texts(site, settings):
    settings.TEXT_LANGUAGES = ["nl", "fr"]
    first, second = make_vacancy(language="nl", title="Verpleger"), make_vacancy()
    paths = [
        f"/v1/vacancies{rest}{more}"
        for rest in (f"/{first.pk}?", "?", "?filter[language]=fr&", "?filter[search]=infirmier&")
        for more in ("", "language=fr", "language=nl")
    ]
    assert differences(site, paths) == {}
    text = make_text(first, "fr", title="Infirmier", is_ready=False)
    assert differences(site, paths) == {}
    VacancyText.objects.update(is_ready=True)
    assert differences(site, paths) == {}
    VacancyText.objects.update(vacancy=second)
    assert differences(site, paths) == {}
    assert differences(Site(), paths) == {}
    if ON_POSTGRESQL:
        stored = RenderedItem.objects.filter(version=stored_version("v1.fr"))
        assert set(stored.values_list("vacancy", flat=True)) == {first.pk, second.pk}
    text.delete()
    assert differences(site, paths) == {}
    if not ON_POSTGRESQL:
        return  # nothing is stored: the test below counts the statements
    shown = [path for path in paths if not path.endswith("nl")]
    with_languages = {path: statements(path) for path in shown}
    settings.TEXT_LANGUAGES = []
    for path in shown:
        plain = path.removesuffix("language=fr")
        statements(plain)  # renders and stores the items, whose format is another one
        assert statements(plain) == with_languages[path], path


def statements(path):
    """Return how many statements a new process needs for a stored list."""
    process = Site()
    process.body("/v1/vacancies?filter[search]=x")  # its memory
    with CaptureQueriesContext(connection) as queries:
        process.body(path)
    return len(queries)


@pytest.mark.slow("many cases")
def test_languages_take_one_statement_more_where_texts_are_read(client, settings):
    """The texts of all vacancies; on the career site also the labels that are not translated."""
    settings.CAREER_SITE = settings.APPLY_PAGES = True
    form = make_form()
    vacancy = make_open_vacancy(form)
    item, page = f"/v1/vacancies/{vacancy.pk}", vacancy.site_path
    more = {"/v1/vacancies": 1, item: 1, "/v1/vacancies/changes": 1, "/jobs": 1, page: 1}
    more |= {"/fr/jobs": 2, "/jobs.atom": 1, f"/sitemap-{vacancy.pk // BLOCK}.xml": 1}
    none = ("/v1/vacancies/hot", "/v1/filters", f"{item}/form", f"{item}/form/schema")
    more |= dict.fromkeys([*none, f"/apply/{vacancy.pk}", "/feeds/indeed.xml"], 0)
    counts = []
    for codes in ([], ["fr", "nl"]):
        settings.TEXT_LANGUAGES = codes
        for path in more:
            client.get(path)
            with CaptureQueriesContext(connection) as queries:
                assert client.get(path).status_code == 200, path
            counts.append(len(queries))
            assert codes or not [
                each for each in queries.captured_queries if "vacancytext" in each["sql"]
            ], path
    plain, translated = counts[: len(more)], counts[len(more) :]
    found = [after - before for before, after in zip(plain, translated, strict=True)]
    assert dict(zip(more, found, strict=True)) == more


def test_a_page_takes_one_query_for_all_texts(client, translated, django_assert_max_num_queries):
    with django_assert_max_num_queries(50) as one:
        items(client, "?language=fr")
    for _ in range(5):
        make_text(make_vacancy(language="nl"), "fr")
    with django_assert_max_num_queries(50) as six:
        items(client, "?language=fr")
    assert len(one) == len(six)
    of_texts = [each for each in six.captured_queries if "vacancies_vacancytext" in each["sql"]]
    assert len(of_texts) == 1

"""The search of the admin: what it finds, for whom, and at what cost."""

import re
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.template.response import TemplateResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from applications.models import AccessLog, Application
from forms_structure.models import Form
from jobsite.office import search as module
from tests.applications.admin.conftest import apply, build, copy_of, staff
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from tests.vacancies.admin.forms import changelist

pytestmark = pytest.mark.django_db
SEARCH = "/admin/search/"


@pytest.fixture
def office(module_roles: None, db: Any, at: Any) -> SimpleNamespace:
    """Not created once per module, because searches of the other tests would find its rows."""
    return copy_of(build())


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root", email="root@example.org"))
    return client


def found(client: Client, text: str) -> dict[str, list[str]]:
    """Return the titles by kind. The part below the box has the same hits."""
    with mock.patch.object(TemplateResponse, "rendered_content", ""):
        page = client.get(SEARCH, {"q": text})
        part = client.get(SEARCH, {"q": text, "part": "results"})
    titles, of_part = (
        {
            group.label: [hit.title for hit in group.hits]
            for group in response.context_data["groups"]
        }
        for response in (page, part)
    )
    assert (page.status_code, of_part) == (200, titles)
    return {label: hits for label, hits in titles.items() if hits}


# --- what is found ---


def test_every_kind_is_found(root, db):
    brand = make_brand("Zebra care")
    make_recruiter("Zebra Maes")
    application = apply(make_vacancy(title="Zebra keeper", brand=brand), "Zebra")
    Form.objects.create(name="Zebra form")
    make_option("regions", "Zebra land")
    User.objects.create_user("zebra")

    assert found(root, "zebra") == {
        "Vacancies": ["Zebra keeper"],
        "Applications": [application.display_name],
        "Recruiters": ["Zebra Maes"],
        "Users": ["zebra"],
        "Application forms": ["Zebra form"],
        "Filter options": ["Zebra land"],
        "Brands": ["Zebra care"],
    }


def missed(client: Client, texts: Any, expected: list[str]) -> dict[str, list[str]]:
    """Return the vacancies that the part below the box shows, where these are others than
    `expected`.
    """
    wrong = {}
    for text in texts:
        groups = client.get(SEARCH, {"q": text, "part": "results"}).context["groups"]
        titles = [hit.title for group in groups if group.label == "Vacancies" for hit in group.hits]
        if titles != expected:
            wrong[text] = titles
    return wrong


@pytest.mark.slow("opens several pages of the admin")
def test_words_of_a_title_are_found(root):
    title = "Nürse in Ghent, C++ 100% night_shift"
    vacancy = make_vacancy(title=title)
    make_vacancy(title="Baker")

    texts = (
        "nurse",
        "NÜRSE",
        "urs",
        "ghent nurse",
        "nu",
        "c+",
        "100%",
        "night_shift",
        "  nurse  ",
        "in gh",
    )
    assert missed(root, texts, [title]) == {}
    vacancy.title = "Nurse, night-shift"
    vacancy.save()
    texts = ("ent", "xyz", "nurse baker", "%", "_", "rs", "nurse' OR '1'='1", "\0", "()")
    assert missed(root, texts, []) == {}
    assert "Stages" in found(root, "stage")["Pages"]  # of the menu


@pytest.mark.slow("opens several pages of the admin")
def test_rows_are_found_by_number_reference_address_and_name(root):
    application = apply(make_vacancy(title="Cook"), "Mia")  # a number in its title could be found
    Application.objects.filter(pk=application.pk).update(
        reference="7K3QX9WD",
        email="Mia@Example.org",
        email_folded="mia@example.org",
        family_name="Maes",
    )

    for text in ("7k3qx9wd", "MIA@example.org", "maes", "mia ma", str(application.pk)):
        assert len(found(root, text)["Applications"]) == 1, text
    assert not AccessLog.objects.exists()  # which records who opens an application
    wanted = make_vacancy(title="Wanted")
    make_vacancy(title=f"Room {wanted.pk}")
    assert found(root, str(wanted.pk))["Vacancies"] == ["Wanted", f"Room {wanted.pk}"]


@pytest.mark.slow("searches many names")
@pytest.mark.each_database
def test_names_are_found_without_accents_and_case(root):
    names = {
        "chloe": "Chloé",
        "muller": "MÜLLER",
        "yilmaz": "Yılmaz",
        "ines": "Inès",
        "o’brien": "O'Brien",
    }
    vacancy = make_vacancy()
    for name in names.values():
        apply(vacancy, name, "x@example.org")
        make_recruiter(name)
        User.objects.create_user(
            f"user of {vacancy.applications.count()}", last_name=name, is_staff=True
        )

    for word, name in names.items():
        for text in (word, name):
            hits = found(root, text)
            assert (hits["Applications"], hits["Recruiters"], len(hits["Users"])) == (
                [name],
                [name],
                1,
            ), text
            for page in ("applications/application", "vacancies/recruiter", "auth/user"):
                rows = changelist(root, f"/admin/{page}/", {"q": text}).result_list
                assert len(rows) == 1, (page, text)
    Application.objects.update(given_name="", user=User.objects.get(last_name="Chloé"))
    assert (
        len(root.get("/admin/applications/application/", {"q": "chloe"}).context["cl"].result_list)
        == 5
    )


@pytest.mark.slow("opens several pages of the admin")
def test_an_empty_search_is_a_page_with_the_box(office, client):
    assert office.anna.get(SEARCH).context["groups"] == []
    for text in ("x" * 100_000, "a b c d e f g h i j k l m n"):
        assert office.anna.get(SEARCH, {"q": text}).status_code == 200
    for path in ("/admin/", "/admin/vacancies/vacancy/", "/admin/vacancies/vacancy/add/", SEARCH):
        assert office.anna.get(path).content.decode().count('id="site-search"') == 1
    assert 'id="site-search"' not in client.get("/admin/login/").content.decode()


def test_more_hits_are_linked(root):
    for number in range(module.ON_PAGE + 1):
        make_recruiter(f"Jan {number}")

    response = root.get(SEARCH, {"q": "jan"})

    (group,) = response.context["groups"]
    assert (len(group.hits), group.url) == (module.ON_PAGE, "/admin/vacancies/recruiter/?q=jan")
    assert "20 results" in response.content.decode()


def test_the_best_hits_are_first(root):
    for title in ("Nightnurse", "Nurses", "Nurse", "Nursery"):
        make_vacancy(title=title, reference="AB-1" if title == "Nursery" else "")
    vacancy = make_vacancy(title="Jan")
    for given, address in (
        ("Mia", "m@jan.example"),
        ("Janssens", "x@b.example"),
        ("Jan", "x@a.example"),
    ):
        apply(vacancy, given, address)

    assert found(root, "nurse")["Vacancies"] == ["Nurse", "Nurses", "Nursery", "Nightnurse"]
    assert found(root, "ab-1")["Vacancies"] == ["Nursery"]
    assert found(root, "jan")["Applications"] == ["Jan", "Mia", "Janssens"]
    changelist = root.get("/admin/applications/application/", {"q": "jan"}).context["cl"]
    # By name only.
    assert [row.display_name for row in changelist.result_list] == ["Jan", "Janssens", "Mia"]
    assert changelist.get_ordering_field_columns() == {}
    rows = (
        root.get("/admin/applications/application/", {"q": "M@jan.example"})
        .context["cl"]
        .result_list
    )
    assert [row.display_name for row in rows] == ["Mia"]


# --- for whom ---


@pytest.mark.slow("opens several pages of the admin")
def test_rows_of_other_brands_are_not_found(office):
    """The recruiter's own rows are found with the same words."""
    secret = make_vacancy(title="Zebra secret", brand=make_brand("Theirs"))
    apply(secret, "Zebra")
    Form.objects.create(name="Zebra form").vacancies.add(secret)
    application = apply(make_vacancy(title="Zebra own", brand=office.brand), "Zebra")

    hits = {"Vacancies": ["Zebra own"], "Applications": [application.display_name]}
    assert found(office.anna, "zebra") == hits
    assert found(office.anna, "secret") == {}
    assert found(office.anna, "theirs") == {}
    assert found(office.anna, str(secret.pk)).get("Vacancies") is None
    reference = secret.applications.get()
    Application.objects.filter(pk=reference.pk).update(
        reference="9X3QX9WD", email="z@example.org", email_folded="z@example.org"
    )
    for text in ("9X3QX9WD", "z@example.org", str(reference.pk)):
        assert "Applications" not in found(office.anna, text), text


@pytest.mark.slow("opens several pages of the admin")
def test_similar_names_are_found_among_the_own_applications(office):
    apply(make_vacancy(title="Secret", brand=make_brand("Theirs")), "Mia Goossens")
    lists = ("/admin/applications/application/", "/admin/applications/application/candidates/")
    assert found(office.anna, "goosens") == {}
    assert [changelist(office.anna, path, {"q": "goosens"}).result_list for path in lists] == [
        [],
        [],
    ]
    own = apply(make_vacancy(title="Cook", brand=office.brand), "Jan Goossens")
    name = own.display_name
    assert found(office.anna, "goosens") == {"Applications": [name]}
    for path in ("/admin/search/?q=goosens", "/admin/search/?q=goosens&part=results"):
        assert "Applications with similar names" in office.anna.get(path).content.decode()
    for path in lists:
        page = office.anna.get(path, {"q": "goosens"})
        assert [row.pk for row in page.context["cl"].result_list] == [own.pk]
        assert "Nothing has these words" in page.content.decode()
        page = office.anna.get(path, {"q": "~goosens"}).content.decode()
        assert "Names that are only similar" in page
        page = office.anna.get(path, {"q": "goossens"}).content.decode()
        assert "?q=~goossens" in page
        assert "Names that are only similar" not in page


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_words_of_other_brands_cost_what_unknown_words_cost(office):
    """The same statements, so that the time does not tell them apart."""
    secret = make_vacancy(title="Wombat", brand=make_brand("Wombat"))
    apply(secret, "Wombat")
    Form.objects.create(name="Wombat").vacancies.add(secret)
    statements = {}
    for word in ("wombat", "numbat", "wombat"):  # the first one fills caches
        with CaptureQueriesContext(connection) as queries:
            office.anna.get(SEARCH, {"q": word})
        found = [query["sql"].lower().replace(word, "word") for query in queries]
        statements[word] = [re.sub("[0-9]+", "0", sql) for sql in found if sql.startswith("select")]
    assert statements["wombat"] == statements["numbat"]


def test_kinds_without_permission_are_not_found(office, client):
    make_vacancy(title="Zebra", brand=office.brand)
    make_option("regions", "Zebra land")
    User.objects.create_user("zebra")
    manager = staff("manager", "Filter manager", [office.brand])

    assert found(manager, "zebra") == {"Filter options": ["Zebra land"]}
    assert "Users" not in found(office.anna, "zebra")
    assert found(manager, "stage") == {}
    assert client.get(SEARCH, {"q": "zebra"}).status_code == 302
    client.force_login(User.objects.create_user("mia"))
    assert client.get(SEARCH, {"q": "zebra", "part": "results"}).status_code == 302


# --- the box and the cost ---


def test_old_applications_are_found_by_name_only_with_an_index(root, monkeypatch):
    monkeypatch.setattr(module, "NEWEST", 1)
    monkeypatch.setattr(module, "SIMILAR", 1)
    vacancy = make_vacancy()
    Application.objects.filter(pk=apply(vacancy, "Zebra").pk).update(reference="7K3QX9WD")
    apply(vacancy, "Jan")

    is_indexed = connection.vendor == "postgresql"
    if is_indexed:
        with connection.cursor() as cursor, transaction.atomic():
            cursor.execute("SET LOCAL enable_seqscan = off")
            kind = next(each for each in module.KINDS if each.model is Application)
            cursor.execute(
                f"EXPLAIN SELECT 1 FROM applications_application WHERE {kind.indexed} LIKE "
                "'%zebra%'"
            )
            assert "on applications_folded_search" in str(cursor.fetchall())
    assert found(root, "zebra") == ({"Applications": ["Zebra"]} if is_indexed else {})
    assert found(root, "7K3QX9WD") != {}
    response = root.get(SEARCH, {"q": "jan"})
    urls = {group.label: group.url for group in response.context["groups"]}
    assert urls["Applications"] == "/admin/applications/application/?q=jan"


def test_query_count_does_not_depend_on_the_hits(root):
    counts = []
    for number in range(3):
        make_vacancy(title=f"Zebra {number}")
        apply(make_vacancy(), f"Zebra {number}")
        root.get(SEARCH, {"q": "zebra", "part": "results"})
        with CaptureQueriesContext(connection) as queries:
            root.get(SEARCH, {"q": "zebra", "part": "results"})
        counts.append(len([query for query in queries if query["sql"].startswith("SELECT")]))
    # The two indexes.
    assert counts[0] == counts[2] <= (22 if connection.vendor == "postgresql" else 18)


def test_a_statement_that_takes_long_leaves_the_other_kinds(root, monkeypatch):
    make_vacancy(title="Zebra")
    make_recruiter("Zebra")
    real = module._newest

    def slow(kind: Any, *args: Any) -> Any:
        if kind.model is Application:
            raise module.OperationalError("canceling statement due to statement timeout")
        return real(kind, *args)

    monkeypatch.setattr(module, "_newest", slow)

    response = root.get(SEARCH, {"q": "zebra"})

    assert {group.label for group in response.context["groups"] if group.hits} == {
        "Vacancies",
        "Recruiters",
    }
    assert [group.label for group in response.context["groups"] if group.is_incomplete] == [
        "Applications"
    ]

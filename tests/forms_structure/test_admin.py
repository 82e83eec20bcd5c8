"""The admin of forms: list, site form, consent texts, permissions."""

import json

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.asserts import assertContains, assertNotContains

from forms_structure import operations
from forms_structure.models import ConsentText, Form
from tests.factories import make_brand, make_vacancy
from tests.forms_structure.builder import LIST, OTHER, STRUCTURE, recruiter
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db


# --- the list, the site form, the consent ---


def test_list_shows_the_use_of_forms_in_a_fixed_number_of_queries(
    anna, form, django_assert_num_queries
):
    make_vacancy(form=form)
    make_brand("Other", form=form)
    anna.get(LIST)  # fills caches
    with CaptureQueriesContext(connection) as queries:
        page = anna.get(LIST)
    assertContains(page, f'/admin/vacancies/vacancy/?form__id__exact={form.pk}">1</a>')
    for base in (None, form):
        operations.create(name=f"After {base}", structure=[], extends=base)
    with django_assert_num_queries(len(queries)):
        anna.get(LIST)
    assert len(queries) < 10
    assert anna.get(f"/admin/vacancies/vacancy/?form__id__exact={form.pk}").status_code == 200


def test_site_has_one_form(anna, form):
    other = operations.create(name="Other", structure=[])
    extension = operations.create(name="More", structure=[], extends=form)
    choose = {"action": "make_default", "confirmed": "1"}

    anna.post(LIST, choose | {"_selected_action": [form.pk]})
    asked = anna.post(LIST, {"action": "make_default", "_selected_action": [other.pk]})
    assert asked.context["overwritten"] == [f"“{form}” is the site's form now and is replaced."]
    assert list(Form.objects.default()) == [form]
    anna.post(LIST, choose | {"_selected_action": [other.pk]})
    assert list(Form.objects.default()) == [other]

    for wrong in ([form.pk, other.pk], [extension.pk]):
        anna.post(LIST, choose | {"_selected_action": wrong})
    assert list(Form.objects.default()) == [other]


def test_added_form_opens_in_the_builder(anna):
    response = anna.post(f"{LIST}add/", {"name": "New", "language": "fr", "extends": ""})

    form = Form.objects.get()
    assert response["Location"] == f"{LIST}{form.pk}/change/"
    assert (form.name, form.language, form.structure) == ("New", "fr", [])
    assert form.snapshots.get().author.username == "anna"


def test_form_in_use_and_site_form_cannot_be_deleted_others_can(admin_client, form):
    Form.objects.update(is_default=True)

    page = admin_client.post(f"{LIST}{form.pk}/delete/", {"post": "yes"})
    admin_client.post(
        LIST, {"action": "delete_selected", "_selected_action": [form.pk], "post": "yes"}
    )
    assertContains(page, "“Standard” is the site&#x27;s form")

    Form.objects.update(is_default=False)
    make_vacancy(form=form)
    page = admin_client.post(f"{LIST}{form.pk}/delete/", {"post": "yes"})
    assertContains(page, "would require deleting the following protected related objects")
    assert Form.objects.exists()

    Vacancy.objects.update(form=None)
    admin_client.post(f"{LIST}{form.pk}/delete/", {"post": "yes"})
    assert not Form.objects.exists()


def test_consent_text_cannot_be_changed(anna):
    for language, text in (("nl", "Ja"), ("en", "Yes")):
        values = {"purpose": "application", "language": language, "text": text}
        anna.post("/admin/forms_structure/consenttext/add/", values)

    texts = list(ConsentText.objects.order_by("version").values_list("language", "version", "text"))
    assert texts == [("nl", 2, "Ja"), ("en", 3, "Yes")]
    for pk in ConsentText.objects.values_list("pk", flat=True):
        for page in ("change", "delete"):
            url = f"/admin/forms_structure/consenttext/{pk}/{page}/"
            assert (
                anna.post(url, {"text": "No", "language": "nl", "post": "yes"}).status_code == 403
            )


# --- permissions ---


PAGES = ("change", "history", "export", "sections")
QUESTIONS = ("save", "check", "copy", "extend")


def test_each_endpoint_checks_its_permission(form):
    refused = dict.fromkeys((*PAGES, *QUESTIONS, "restore"), 403)
    reading = dict.fromkeys((*PAGES, "check"), 200)
    for client, expected in (
        (Client(), dict.fromkeys(refused, 302)),
        (recruiter(name="none"), refused),
        (recruiter("view_form", name="reader"), refused | reading),
    ):
        found = {page: client.get(f"{LIST}{form.pk}/{page}/").status_code for page in PAGES}
        for view in QUESTIONS:
            whole = {
                "structure": OTHER,
                "revision": 1,
                "name": form.name,
                "language": form.language,
            }
            answer = client.post(f"{LIST}{form.pk}/{view}/", json.dumps(whole), "application/json")
            found[view] = answer.status_code
        found["restore"] = client.post(f"{LIST}{form.pk}/restore/", {"revision": 1}).status_code
        assert found == expected
    assert Form.objects.get().structure == STRUCTURE


def test_copy_for_a_vacancy_needs_the_change_permission_and_posts_the_csrf_token(form):
    client, strict = (
        recruiter("view_form", "add_form", "view_vacancy"),
        Client(enforce_csrf_checks=True),
    )
    strict.force_login(User.objects.create_superuser("root"))
    data, url = json.dumps({"for": make_vacancy(form=form).pk}), f"{LIST}{form.pk}"

    assert client.post(f"{url}/copy/", data, "application/json").status_code == 403
    assert Form.objects.count() == 1
    for view in QUESTIONS:
        assert strict.post(f"{url}/{view}/", "{}", "application/json").status_code == 403


def test_unknown_form_is_404(anna):
    pks = ("0", "999", "x", "9" * 40, "-1", "²")
    paths = [
        f"{LIST}{pk}/{page}/" for page in PAGES for pk in (pks if page == "change" else pks[:3])
    ]

    assert [path for path in paths if anna.get(path).status_code != 404] == []


def test_page_data_is_escaped_in_the_script(anna):
    label = "</script><script>alert(1)</script>"
    form = operations.create(name=label, structure=[STRUCTURE[0] | {"title": label}])

    assertNotContains(anna.get(f"{LIST}{form.pk}/change/"), "<script>alert")
    assertNotContains(anna.get(f"{LIST}{form.pk}/history/"), "<script>alert")


# --- from the vacancy ---


@pytest.mark.slow("opens several pages of the admin")
def test_vacancy_page_names_its_served_form_and_links_to_it(admin_client, form):
    page = "/admin/vacancies/vacancy/{}/change/"
    vacancy = make_vacancy(brand=make_brand("Other", form=form))
    reader = recruiter("view_vacancy", "view_form", name="reader")

    parts = reader.get(page.format(vacancy.pk)).content.decode().split('"')
    [link] = [part for part in parts if part.endswith("application-form/")]
    assert reader.get(link)["Location"] == f"{LIST}{form.pk}/change/?for={vacancy.pk}"

    url = page.format(make_vacancy().pk)
    assertContains(admin_client.get(url), "Applicants are currently only asked for consent.")
    Form.objects.update(is_default=True)
    assertContains(admin_client.get(url), "Applicants currently get “Standard”.")

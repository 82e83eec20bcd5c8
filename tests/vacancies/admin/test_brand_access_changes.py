"""Brand scoping (docs/decisions.md #56):
no action, posted id or version changes rows of another brand.
"""

import json
from typing import Any

import pytest

from forms_structure.models import Form
from jobsite.db.transactions import dry_run
from tests.admin_pages import (
    FOREIGN,
    NO_ROWS,
    OWN,
    WORD,
    posted,
    signed_in,
    stored_of,
    structure,
    version_of,
)
from tests.factories import make_recruiter
from tests.vacancies.admin.brand_access import FORMS, LIST, WALLED, assert_clean, output
from vacancies.admin.publication.selection import VacancySelection
from vacancies.models import Attachment, Vacancy, VacancyRecruiter, Version

pytestmark = [
    pytest.mark.slow("many pages of two brands"),
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_foreign_changes"),
]


# --- actions ---


@pytest.mark.parametrize(
    "noun",
    [
        "vacancies/vacancy",
        "forms_structure/form",
        "vacancies/recruiter",
        "vacancies/brand",
        "applications/application",
    ],
)
def test_no_action_reaches_foreign_rows(world, noun):
    client, model = signed_in(world, "Handy"), noun.replace("/", ".")
    url = f"/admin/{noun}/"
    query = "?state=all" if model == "vacancies.vacancy" else ""
    context = client.get(url + query).context
    form = context["action_form"] if context else None
    names = [name for name, _ in form.fields["action"].choices if name] if form else []
    assert names or model in ("vacancies.brand", "vacancies.recruiter")
    before = stored_of(world)
    foreign, own = world.foreign_pks[model], world.own_pks[model]
    extra = {"day": "2100-01-01", "publish_from_0": "2100-01-01", "publish_from_1": "10:00"}
    extra |= {"confirmed": "1", "post": "yes"}
    for name in names:
        both = [*own, *foreign]
        for pks, across, more in ((foreign, 0, extra), (both, 0, {}), (both, 1, extra)):
            data = {"action": name, "_selected_action": pks, "select_across": across, "index": 0}
            with dry_run(True):
                assert_clean(client, client.post(url + query, data | more), f"{name} {pks} {more}")
                assert stored_of(world) == before


@pytest.mark.smoke
def test_action_changes_own_rows_among_foreign_ones(world):
    client = signed_in(world, "Recruiter")
    pks = [world.own.draft.pk, world.foreign.draft.pk]
    asked = client.post(LIST, {"action": "publish_selected", "_selected_action": pks})
    assert list(asked.context["selection"].seen) == pks[:1]
    forged = VacancySelection.of(Vacancy.objects.filter(pk__in=pks))
    client.post(f"{LIST}bulk/publish/", {"vacancies": str(forged)})
    states = Vacancy.objects.in_bulk(pks)
    assert [states[pk].status for pk in pks] == ["published", "draft"]


def test_setting_the_site_form_needs_access_to_every_brand(world):
    data = {"action": "make_default", "_selected_action": [world.own.form.pk], "confirmed": "1"}
    signed_in(world, "Recruiter").post(FORMS, data)
    assert Form.objects.default().get() == world.default

    with dry_run(True):
        signed_in(world, "Editor").post(FORMS, data)
        assert Form.objects.default().get() == world.own.form


@pytest.mark.parametrize("pk", ["default", "shared"])
def test_form_deletion_page_names_visible_vacancies_only(world, pk):
    """A visible form that another brand uses: Django lists all rows that protect it."""
    form = getattr(world, pk)
    data = {"action": "delete_selected", "_selected_action": [form.pk]}
    client = signed_in(world, "Recruiter")
    assert_clean(client, client.post(FORMS, data), "delete_selected")
    assert Form.objects.filter(pk=form.pk).exists()
    assert FOREIGN in output(signed_in(world, "Editor").post(FORMS, data))


# --- posted ids ---


def vacancy_form(world: Any, **values: Any) -> dict[str, Any]:
    return posted(world, "vacancies.vacancy", "change", world.own.draft.pk)["data"] | values


def rows(prefix: str, *, initial: int, **fields: Any) -> dict[str, Any]:
    counts = {f"{prefix}-TOTAL_FORMS": 1, f"{prefix}-INITIAL_FORMS": initial}
    return NO_ROWS | counts | {f"{prefix}-0-{name}": value for name, value in fields.items()}


@pytest.mark.parametrize("page", ["change", "review", "add"])
@pytest.mark.parametrize(
    ("prefix", "model"), [("attachments", Attachment), ("recruiter_links", VacancyRecruiter)]
)
def test_rows_of_a_foreign_vacancy_are_not_edited_with_an_own_one(world, prefix, model, page):
    theirs = model.objects.filter(vacancy=world.foreign.draft).first()
    client = signed_in(world, "Recruiter")
    url = f"{LIST}add/" if page == "add" else f"{LIST}{world.own.draft.pk}/{page}/"
    own, foreign = world.own.draft.pk, world.foreign.draft.pk
    for vacancy, delete, initial in (
        *((own, {}, 0), (own, {}, 1), (foreign, {}, 0), (foreign, {}, 1)),
        (foreign, {"DELETE": "on"}, 1),
    ):
        fresh = make_recruiter(f"Fresh {vacancy} {delete} {initial}")
        fields = {
            "id": theirs.pk,
            "vacancy": vacancy,
            "name": "Taken",
            "url": "https://taken.test/x.pdf",
            "recruiter": fresh.pk,
            "position": 7,
            **delete,
        }
        data = vacancy_form(world) | rows(prefix, initial=initial, **fields)
        assert_clean(client, client.post(url, data), f"{url} {fields}")


def test_steps_of_a_foreign_application_are_not_edited_with_an_own_one(world):
    client, own = signed_in(world, "Recruiter"), world.own.application
    url = f"/admin/applications/application/{own.pk}/change/"
    data = posted(world, "applications.application", "change", own.pk)["data"]
    for application in (own.pk, world.foreign.application.pk):
        fields = {
            "id": world.foreign.step.pk,
            "application": application,
            "name": "Taken",
            "planned_at_0": "2100-01-01",
            "planned_at_1": "10:00:00",
            "DELETE": "on",
        }
        assert_clean(client, client.post(url, data | rows("history", initial=1, **fields)), url)


@pytest.mark.parametrize("page", ["add", "change", "review"])
@pytest.mark.parametrize("field", ["brand", "form"])
def test_vacancy_points_to_nothing_foreign(world, page, field):
    client = signed_in(world, "Recruiter")
    url = f"{LIST}add/" if page == "add" else f"{LIST}{world.own.draft.pk}/{page}/"
    for pk in [getattr(world.foreign, field).pk, world.extension.pk if field == "form" else 0]:
        assert_clean(client, client.post(url, vacancy_form(world, **{field: pk})), url)
        assert_clean(client, client.get(f"{LIST}add/?{field}={pk}"), "initial")
        own = Vacancy.objects.exclude(pk__in=world.foreign_pks["vacancies.vacancy"])
        assert not own.filter(**{field: pk}).exists()


def test_form_extends_nothing_foreign(world):
    client, data = signed_in(world, "Recruiter"), {"name": "Mine", "language": "en"}
    for theirs in (world.foreign.form, world.extension, world.free_extension):
        assert_clean(
            client, client.post(f"{FORMS}add/", data | {"extends": theirs.pk}), f"extends {theirs}"
        )
        assert not Form.objects.filter(name="Mine").exists(), theirs

    client.post(f"{FORMS}add/", data | {"extends": world.own.form.pk})
    assert Form.objects.get(name="Mine").extends == world.own.form


@pytest.mark.parametrize("view", ["copy", "extend"])
def test_no_form_is_made_for_a_foreign_vacancy(world, view):
    client = signed_in(world, "Recruiter")
    url = f"{FORMS}{world.own.form.pk}/{view}/"
    for pk in world.foreign_pks["vacancies.vacancy"]:
        requested = json.dumps({"for": pk, "structure": structure("mine")})
        response = client.post(url, requested, content_type="application/json")
        assert response.status_code == 400
        assert_clean(client, response, url)
        assert_clean(client, client.get(f"{FORMS}{world.own.form.pk}/change/?for={pk}"), "for")


@pytest.mark.smoke
def test_form_shared_with_another_brand_is_read_only(world):
    client = signed_in(world, "Recruiter")
    for form in (world.default, world.shared):
        assert client.get(f"{FORMS}{form.pk}/change/").status_code == 200
        for view in ("save", "restore", "delete"):
            post = posted(world, "forms_structure.form", view, form.pk)
            assert client.post(f"{FORMS}{form.pk}/{view}/", **post).status_code == 403, (form, view)


def test_own_form_is_saved_and_restored(world):
    client, form = signed_in(world, "Recruiter"), world.own.form
    for view in ("save", "restore"):
        before = Form.objects.get(pk=form.pk).revision
        sent = posted(world, "forms_structure.form", view, form.pk)
        response = client.post(f"{FORMS}{form.pk}/{view}/", **sent)
        # public names must be listed as lost
        assert response.status_code in (200, 409), view
        assert Form.objects.get(pk=form.pk).revision == before
        free = world.spare["forms_structure.form"].pk
        client.post(f"{FORMS}{free}/{view}/", **posted(world, "forms_structure.form", view, free))
    assert Form.objects.get(pk=free).revision == 4


def test_changing_a_shared_recruiter_needs_access_to_every_brand(world):
    url = f"/admin/vacancies/recruiter/{world.foreign.contact.pk}"
    for who in WALLED:
        for page in ("change", "delete"):
            taken = signed_in(world, who).post(f"{url}/{page}/", {"name": "Taken", "post": "yes"})
            assert taken.status_code == 403
    own = f"/admin/vacancies/recruiter/{world.own.contact.pk}/change/"
    assert signed_in(world, "Recruiter").post(own, {"name": "Renamed"}).status_code == 302


# --- versions ---


@pytest.mark.smoke
def test_versions_from_another_brand_are_hidden(world):
    client, pk = signed_in(world, "Recruiter"), world.taken_over.pk
    first, last = Version.objects.filter(vacancy=pk).order_by("pk")
    text = assert_clean(client, client.get(f"{LIST}{pk}/history/"), "history")
    assert f"versions/{first.pk}/" not in text
    assert client.get(f"{LIST}{pk}/versions/{first.pk}/").status_code == 404
    assert client.post(f"{LIST}{pk}/versions/{first.pk}/").status_code == 404
    assert client.get(f"{LIST}{pk}/versions/{last.pk}/").status_code == 200
    for decision in ("publish", "schedule"):
        assert_clean(client, client.get(f"{LIST}{pk}/{decision}/"), decision)


def test_conflict_names_no_user_of_another_brand(world):
    client, pk = signed_in(world, "Recruiter"), world.taken_over.pk
    for seen in ("", "never", "2000-01-01T00:00:00+00:00"):
        response = client.post(f"{LIST}{pk}/change/", vacancy_form(world, version=seen))
        assert "editor saved this vacancy on" in assert_clean(client, response, f"conflict {seen}")


def test_vacancy_deleted_by_another_brand_cannot_be_restored(world):
    client = signed_in(world, "Recruiter")
    for version in Version.objects.filter(vacancy=world.lost):
        assert client.get(f"{LIST}{world.lost}/versions/{version.pk}/").status_code == 404
        assert client.post(f"{LIST}{world.lost}/versions/{version.pk}/").status_code == 404
    assert client.get(f"{LIST}{world.lost}/history/").status_code == 404

    url = f"{LIST}{world.own.gone}/versions/{version_of(world.own.gone)}/"
    assert client.post(url).status_code == 302
    assert Vacancy.objects.get(pk=world.own.gone).brand == world.own.brand


def test_restore_sets_no_inaccessible_brand_or_form(world):
    """A user of several brands cannot move vacancies between them:
    other users would see the applicants.
    """
    anna, second = world.staff["Recruiter"], world.spare["vacancies.brand"]
    vacancy = world.own.draft
    Vacancy.objects.filter(pk=vacancy.pk).update(brand=second)
    version = Version.objects.filter(vacancy=vacancy.pk).order_by("pk").first()
    version.content |= {"form": [world.foreign.form.pk, "once ours"]}
    version.save()
    assert anna.brands.filter(pk=second.pk).exists()

    url = f"{LIST}{vacancy.pk}/versions/{version.pk}/"
    client = signed_in(world, "Recruiter")
    assert_clean(client, client.get(url), url)
    assert client.post(url).status_code == 302
    vacancy.refresh_from_db()
    assert (vacancy.brand, vacancy.form, vacancy.location) == (
        second,
        None,
        f"{OWN} location {WORD}",
    )

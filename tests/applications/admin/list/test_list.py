"""The list of applications: columns, filters, search, marks, brand scoping."""

import re
from datetime import timedelta

import pytest
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import AccessLog, Application, Stage
from applications.operations import Move, move
from tests.applications.admin.conftest import FOREIGN, apply, staff
from tests.applications.makers import make_file, make_step, make_submission, make_user, signed_in
from tests.factories import make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import changelist
from vacancies.models import SavedView

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"


def listed(client, **query):
    return [row.pk for row in changelist(client, LIST, query).result_list]


def cells(client, **query):
    """Return the texts of the cells of the first row, by column."""
    admin = client.get(LIST, query).context["cl"]
    row = admin.result_list[0]
    return {name: str(getattr(admin.model_admin, name)(row)) for name in admin.list_display}


def test_row_shows_applicant_stage_marks_and_files(office, at):
    submission = make_submission(office.own, {})
    make_file(submission)
    make_file(submission)
    make_step(office.own, planned_at=at + timedelta(days=2))
    Application.objects.filter(pk=office.own.pk).update(
        rating=4, is_repeated=True, withdrawn_at=at, family_name="<Maes>"
    )

    found = cells(office.anna)

    assert "<b>Mia &lt;Maes&gt;</b>" in found["applicant_name"]
    assert ">New</span>" in found["applicant_name"]
    assert 'aria-label="Select Mia &lt;Maes&gt;"' in found["action_checkbox"]
    assert (found["stars"], found["files"]) == ("4/5", "2")
    assert found["next_step"] == "4 Mar 2026, 09:30"
    assert ">Applied again</span>" in found["marks"]
    assert ">Withdrawn</span>" in found["marks"]
    assert ">New</span>" in found["visible_stage"]


def test_read_application_without_marks_shows_none(office, at):
    Application.objects.update(read_at=at)

    found = cells(office.anna)

    assert found["applicant_name"] == "Mia"
    assert (found["marks"], found["files"], found["stars"], found["next_step"]) == (
        "-",
        "-",
        "-",
        "-",
    )


@pytest.fixture
def jan(office):
    return apply(make_vacancy(title="Baker", brand=office.brand), "Jan", "jan@example.org").pk


def missed(office, words, expected):
    """Return the rows that each search found, where these are others than `expected`."""
    found = {each: listed(office.anna, q=each) for each in words}
    return {each: rows for each, rows in found.items() if rows != expected}


def test_search_finds_anonymous_applicants_and_accounts(office, jan):
    own = Application.objects.filter(pk=office.own.pk)
    own.update(family_name="Maes")
    words = (
        "MAES",
        "mia maes",
        "mia@example",
        "7k3qx9wd",
        "7K3QX9WD",
        "nurse maes",
        str(own[0].vacancy_id),
    )
    assert missed(office, words, [office.own.pk]) == {}

    user = make_user("zoe.peeters", email="zoe@account.test", first_name="Zoë", last_name="Peeters")
    own.update(user=user, given_name="", email="", email_folded="")
    assert missed(office, ("zoë", "zoe.peeters", "Peeters", "zoe@acc"), [office.own.pk]) == {}


def test_search_with_other_words_finds_nothing_else(office, jan):
    words = ("%", "_", "7K3Q", "mia baker", "'; --", "9" * 40, FOREIGN)

    assert missed(office, words, []) == {}
    assert listed(office.anna, q="\0") == listed(office.anna)


@pytest.mark.slow("opens several pages of the admin")
def test_filters(office, at):
    own = office.own
    old = apply(own.vacancy, created_at=at - timedelta(days=60), read_at=at, rating=4)
    baker = make_vacancy(title="Baker", brand=office.brand)
    again = apply(
        baker, created_at=at - timedelta(days=8), is_repeated=True, rating=2, withdrawn_at=at
    )
    move(Application.objects.filter(pk=old.pk), Move(stage=office.rejected, author=None, at=at))

    expected = {
        ("vacancy__id__exact", baker.pk): [again.pk],
        ("stage", office.rejected.pk): [old.pk],
        ("stage", office.new.pk): [own.pk],
        ("age", "1"): [own.pk],
        ("age", "30"): [own.pk, again.pk],
        ("age", "older30"): [old.pk],
        ("read", "no"): [own.pk, again.pk],
        ("read", "yes"): [old.pk],
        ("mark", "repeated"): [again.pk],
        ("mark", "withdrawn"): [again.pk],
        ("mark", "active"): [own.pk, old.pk],
        ("rating", "3"): [old.pk],
        ("rating", "none"): [own.pk],
    }
    assert {each: listed(office.anna, **dict([each])) for each in expected} == expected
    assert listed(office.anna) == [own.pk, again.pk, old.pk]  # the newest first


@pytest.mark.slow("opens several pages of the admin")
def test_invalid_filter_is_no_error(office):
    names = ("stage", "age", "read", "mark", "rating", "vacancy__id__exact")

    for value in ("x", "9" * 30, "-1", "²", "older", ""):
        assert office.anna.get(LIST, dict.fromkeys(names, value)).status_code == 200, value


def test_filter_names_the_chosen_vacancy_of_an_own_brand(office):
    page = office.anna.get(LIST, {"vacancy__id__exact": office.own.vacancy_id})
    assertContains(
        page, f'<option value="{office.own.vacancy_id}" selected>Nurse</option>', html=True
    )
    assertContains(page, f"board/?vacancy__id__exact={office.own.vacancy_id}")
    page = office.anna.get(LIST, {"vacancy__id__exact": office.foreign.vacancy_id})
    assertNotContains(page, FOREIGN)
    assert list(page.context["cl"].result_list) == listed(staff("homeless")) == []


def test_marking_as_read_and_unread(office, at):
    other = apply(office.own.vacancy, read_at=at - timedelta(days=1))
    chosen = {"_selected_action": [office.own.pk, other.pk, office.foreign.pk]}

    [section] = office.anna.post(LIST, chosen | {"action": "mark_read"}).context["sections"]
    assert ([row.name for row in section.rows], Application.objects.filter(read_at=at).count()) == (
        [f"{office.own.display_name} – {office.own.vacancy.title}"],
        0,
    )
    chosen["confirmed"] = "1"
    answer = office.anna.post(LIST, chosen | {"action": "mark_read"})
    assert messages_of(answer) == ["1 marked as read."]
    rows = Application.objects.order_by("pk").values_list("pk", "read_at")
    assert dict(rows) == {
        office.own.pk: at,
        other.pk: at - timedelta(days=1),
        office.foreign.pk: None,
    }
    assert list(AccessLog.objects.values_list("application", "action")) == [
        (office.own.pk, "change")
    ]

    answer = office.anna.post(LIST, chosen | {"action": "mark_unread"})
    assert set(Application.objects.values_list("read_at", flat=True)) == {None}
    assert messages_of(answer)[-1] == "2 marked as unread."


def test_not_even_a_superuser_deletes_applications_or_changes_accesses(office, recruiter):
    root = signed_in(recruiter)
    entry = AccessLog.objects.create(application=office.own.pk, action="view")
    log = "/admin/applications/accesslog/"
    paths = [
        f"{LIST}{office.own.pk}/delete/",
        *(f"{log}{each}/" for each in ("add", f"{entry.pk}/delete")),
    ]
    for path in (*paths, f"{log}{entry.pk}/change/"):
        assert root.post(path, {"post": "yes"}).status_code == 403, path
    root.post(
        LIST, {"action": "delete_selected", "_selected_action": [office.own.pk], "post": "yes"}
    )
    root.post(f"/admin/applications/stage/{office.new.pk}/delete/", {"post": "yes"})  # in use
    assert Application.objects.count() == Stage.objects.count() == 2
    assert AccessLog.objects.get() == entry
    empty = root.post("/admin/applications/status/add/", {})
    assertContains(empty, "Enter the text in at least one language.")


def test_list_offers_a_stage_whose_name_has_a_percent_sign(office):
    """Django formats action labels with %."""
    for name in ("50% done", "%(name)s", "100%"):
        Stage.objects.filter(pk=office.new.pk).update(name=name)
        label = f'<option value="move_to_{office.new.pk}">Move to: {name}</option>'
        assertContains(office.anna.get(LIST), label, html=True)


def test_initial_stages_are_shown_in_the_language_of_the_user(office):
    """A stage that a recruiter named is not translated."""
    found = {}
    for name in ("New", "Nieuwkomers"):
        Stage.objects.filter(pk=office.new.pk).update(name=name)
        page = office.anna.get(LIST, headers={"Accept-Language": "nl"}).text
        found[name] = re.findall(r'<span class="panel-state">(.*?)</span>', page)
    assert found == {"New": ["Nieuw"], "Nieuwkomers": ["Nieuwkomers"]}


# --- saved views ---


def test_view_keeps_filters_without_the_words_of_a_search(office):
    saved = office.anna.post(
        f"{LIST}views/add/", {"name": " My  stage ", "query": "q=mia&rating=4&p=2"}
    )

    assert saved["Location"] == f"{LIST}?rating=4"
    page = office.anna.get(saved["Location"])
    assert [(tab["label"], tab["url"]) for tab in page.context["view_tabs"]][3:] == [
        ("My stage", "?rating=4")
    ]
    assert page.context["view_tabs"][3]["is_current"]
    bert = staff("bert", brands=[office.brand])
    assert [tab["label"] for tab in bert.get(LIST).context["view_tabs"]][3:] == []
    delete = f"{LIST}views/{page.context['current_view'].pk}/delete/"
    assert bert.post(delete).status_code == 404
    office.anna.post(delete)
    assert not SavedView.objects.exists()


def test_view_needs_a_new_name_and_filters(office):
    shown = []
    for name, query, error in (
        ("", "rating=4", "Enter a name of 1 to 80 characters."),
        ("x" * 81, "rating=4", "Enter a name of 1 to 80 characters."),
        ("Mine", "q=mia", "Choose filters first: this list has none."),
        ("Mine", f"age={'7' * 2001}", "This list has too many filters for a view."),
        ("Mine", "rating=4", ""),
        ("Mine", "rating=5", "You already have a view with this name."),
    ):
        sent = office.anna.post(f"{LIST}views/add/", {"name": name, "query": query})
        shown += [error] if error else []
        assert messages_of(sent) == shown, (name, query)
    assert SavedView.objects.get().query == "rating=4"

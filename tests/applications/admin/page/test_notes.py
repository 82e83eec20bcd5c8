"""Notes of an application, and the colleagues that they mention."""

import pytest
from django.contrib.auth.models import User
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import Message, Note
from applications.operations.notes import mentions
from tests.applications.admin.conftest import staff
from tests.applications.admin.page.test_page import page
from tests.messages import messages_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def colleagues(office):
    """Piet of the same brand, an editor of every brand, and people who may
    not see the application.
    """
    staff("piet", brands=[office.brand])
    staff("Editor", "Editor")
    staff("els", brands=[office.other])
    staff("filters", "Filter manager", brands=[office.brand])
    User.objects.create_user("applicant", "applicant@example.org")
    gone = staff("gone", brands=[office.brand]).get("/admin/").wsgi_request.user
    User.objects.filter(pk=gone.pk).update(is_active=False)


def test_note_is_added_with_author_and_time(office, at):
    response = office.anna.post(page(office.own, "note"), {"text": " Good.\nVery <b>good</b>. "})

    note = Note.objects.get()
    assert (note.application, note.author.username, note.created_at) == (office.own, "anna", at)
    assert response["Location"] == f"{page(office.own)}#notes"
    assert messages_of(response) == ["The note was added."]
    assertContains(office.anna.get(page(office.own)), "Very &lt;b&gt;good&lt;/b&gt;.")
    Note.objects.update(author=None)
    assertContains(office.anna.get(page(office.own)), "a deleted account")


def test_mentioned_colleagues_who_may_see_the_application_get_an_email(office, colleagues):
    text = "@Piet, @editor. @els @filters @applicant @gone @anna @nobody piet@example.org"

    response = office.anna.post(page(office.own, "note"), {"text": text})

    assert sorted(user.username for user in Note.objects.get().mentioned.all()) == [
        "Editor",
        "piet",
    ]
    assert list(Message.objects.order_by("to").values_list("kind", "to", "state")) == [
        ("mention", "Editor@example.org", "queued"),
        ("mention", "piet@example.org", "queued"),
    ]
    page_after = office.anna.get(page(office.own))
    assert [user.username for user in page_after.context["colleagues"]] == ["Editor", "piet"]
    added, not_sent = messages_of(response)
    assert added == "The note was added. Mentioned by email: Editor, piet."
    assert not_sent == (
        "No email was sent to @els, @filters, @applicant, @gone, @nobody: no such colleague may "
        "view this application."
    )


def test_mentions_match_user_names_of_any_form():
    names = ["ann", "anna.p", "j+x-y_z", "mia@example.org", "Zoë", "dot."]
    users = [User(pk=number, username=name) for number, name in enumerate(names)]
    text = "@ANNA.P @ann. (@j+x-y_z) @mia@example.org, @zoë @dot. @@ann x@ann @ @-"

    found, unknown = mentions(text, users)

    assert [user.username for user in found] == [
        "anna.p",
        "ann",
        "j+x-y_z",
        "mia@example.org",
        "Zoë",
        "dot.",
    ]
    assert unknown == ["@ann", "-"]


def test_page_of_a_note_opens_after_signing_in(office):
    """There leads the page to sign in, for a note that is posted after the end of the session."""
    response = office.anna.get(page(office.own, "note"))

    assert (response.status_code, response.context["note_form"].errors) == (200, {})


def test_invalid_note_is_shown_again_with_the_error(office):
    for text in ("", "  \n ", "a\0b", "x" * 10_001):
        response = office.anna.post(page(office.own, "note"), {"text": text})
        assertContains(response, 'role="alert"', status_code=422, msg_prefix=text[:9])
    assertContains(response, "x" * 100, status_code=422)  # what was written is not lost
    assert not Note.objects.exists()


@pytest.mark.slow("opens many pages")
def test_note_is_deleted_by_its_author_only(office, colleagues):
    office.anna.post(page(office.own, "note"), {"text": "Mine."})
    note = Note.objects.get()
    editor = staff("root", "Administrator")
    assertNotContains(editor.get(page(office.own)), "Delete this note")

    for client, path, sent in (
        (editor, page(office.own, "delete-note"), note.pk),
        (office.anna, page(office.own, "delete-note"), "x"),
        (office.anna, page(office.own, "delete-note"), ""),
        (editor, page(office.foreign, "delete-note"), note.pk),
    ):
        assert client.post(path, {"note": sent}).status_code == 404
    assert Note.objects.count() == 1

    response = office.anna.post(page(office.own, "delete-note"), {"note": note.pk})
    assert messages_of(response)[-1] == "The note was deleted."
    assert not Note.objects.exists()


def test_users_without_permission_see_no_notes(office):
    office.anna.post(page(office.own, "note"), {"text": "Secret note."})
    group = User.objects.get(username="anna").groups.get()
    group.permissions.remove(*group.permissions.filter(codename__in=("view_note", "add_note")))

    assertNotContains(office.anna.get(page(office.own)), "Secret note.")

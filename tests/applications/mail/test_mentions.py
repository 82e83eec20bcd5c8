"""Emails to colleagues who are mentioned in a note."""

import pytest
from django.contrib.auth.models import User

from applications.mail.mentions import queue_mentions
from applications.models import Note
from tests.applications.makers import make_application
from tests.conftest import NOW
from tests.factories import make_vacancy


@pytest.mark.django_db
def test_colleagues_are_told_and_learn_nothing_of_the_applicant(at):
    an, bo, no_address, gone = (
        User.objects.create_user(
            name, email=f"{name}@example.com", is_staff=True, first_name=name.title()
        )
        for name in ("an", "bo", "nobody", "gone")
    )
    User.objects.filter(pk=no_address.pk).update(email="")
    User.objects.filter(pk=gone.pk).update(is_active=False)
    application = make_application(
        vacancy=make_vacancy(title="Baker"),
        given_name="Mia",
        family_name="Maes",
        email="mia@example.org",
    )
    note = Note.objects.create(application=application, author=an, text="Mia sounds good, @bo?")
    note.mentioned.set([an, bo, no_address, gone])

    [message] = queue_mentions(note, base_url="https://jobs.example.org", at=NOW)

    assert message.vacancies == [application.vacancy_id]
    assert (message.kind, message.to, message.recipient, message.author) == (
        "mention",
        "bo@example.com",
        bo,
        an,
    )
    assert (message.application, message.queued_at) == (application, NOW)
    assert message.subject == "An mentioned you: Baker"
    assert message.body == (
        "An mentioned you in a note about an application.\n\nVacancy: Baker\n"
        f"https://jobs.example.org/admin/applications/application/{application.pk}/change/\n\n"
        "Choose the emails that you receive:\nhttps://jobs.example.org/admin/applications/message/mine/"
    )

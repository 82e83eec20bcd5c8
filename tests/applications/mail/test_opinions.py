"""The email in the morning about applications that wait for an opinion."""

from datetime import timedelta

import pytest

from applications.mail.delivery import MailDelivery, as_email
from applications.mail.scorecards import OpinionEmails
from applications.models import EmailOptOut, Message, Scorecard, StageChange
from tests.applications.admin.conftest import apply, colleague
from tests.applications.makers import make_stage
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from vacancies.models import TeamMember

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def boss(module_roles, at):
    return colleague("boss", "Hiring manager")


def run(at):
    job, made = OpinionEmails("https://jobs.test"), []
    while item := job.next_due(at):
        made.append(job.run(item))
    return made


def test_a_member_is_told_once_of_what_waits_and_again_of_what_is_new(boss):
    vacancy = make_vacancy(title="Nurse", brand=make_brand())
    TeamMember.objects.create(vacancy=vacancy, user=boss)
    first = apply(vacancy, "Zoe", stage=make_stage())
    apply(make_vacancy(brand=vacancy.brand), stage=make_stage())  # of another team
    assert run(NOW) == ["opinion queued"]
    message = Message.objects.get(kind="opinion")
    assert (message.subject, message.vacancies) == ("1 application for your opinion", [vacancy.pk])
    address = "https://jobs.test/admin/applications/application/yours/"
    assert f"{address}?vacancy={vacancy.pk}" in message.body
    assert "Zoe" not in as_email(message).body
    assert run(NOW + DAY) == ["opinion nothing"]

    StageChange.objects.create(application=first, stage=make_stage(), at=NOW + DAY)
    assert run(NOW + 2 * DAY) == ["opinion queued"]
    Scorecard.objects.create(application=first, author=boss, recommendation=3, sent_at=NOW)
    StageChange.objects.create(application=first, stage=make_stage(), at=NOW + 3 * DAY)
    assert run(NOW + 4 * DAY) == ["opinion nothing"]


def test_nobody_else_is_told_and_nobody_who_left(boss):
    vacancy = make_vacancy(title="Nurse", brand=make_brand())
    apply(vacancy, stage=make_stage())
    colleague("anna", "Recruiter", vacancy.brand)
    assert run(NOW) == []
    member = TeamMember.objects.create(vacancy=vacancy, user=boss)
    EmailOptOut.objects.create(user=boss, kind="opinion")
    assert run(NOW) == []
    EmailOptOut.objects.all().delete()
    assert run(NOW) == ["opinion queued"]
    member.delete()
    [message] = Message.objects.filter(kind="opinion")
    assert MailDelivery().run(message) == "failed"

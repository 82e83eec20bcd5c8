"""The page of a team: colleagues, addresses, invitations, removal; and what follows a vacancy."""

import re

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from applications.mail.delivery import as_email
from applications.mail.notice import queue_notice
from applications.models import Application, Invitation, Message, Origin
from applications.operations.invitations import NotAllowedError, invite
from tests.applications.admin.conftest import apply, colleague, group
from tests.applications.makers import signed_in
from tests.factories import make_brand, make_vacancy
from vacancies.models import Requisition, TeamMember
from vacancies.operations.publication import duplicate

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna(module_roles):
    return colleague("anna", "Recruiter", make_brand("Acme"))


@pytest.fixture
def vacancy(anna):
    return make_vacancy(title="Nurse", brand=anna.brands.get())


def page(vacancy):
    return f"/admin/vacancies/vacancy/{vacancy.pk}/team/"


def invited(client, vacancy, role="Hiring manager", email="boss@example.org"):
    data = {"invite": "1", "email": email, "role": group(role).pk, "language": "en"}
    return client.post(page(vacancy), data)


def accept():
    text = Message.objects.filter(kind="invitation").latest("pk")
    return re.search(r"/account/invitation/\S+", as_email(text).body)[0]


@pytest.mark.slow("opens many pages")
def test_a_recruiter_adds_a_manager_by_address_who_then_sees_the_applications(
    anna, vacancy, client
):
    application = apply(vacancy)
    assert "…" in signed_in(anna).get(page(vacancy).replace("team", "change")).content.decode()
    assert invited(signed_in(anna), vacancy).status_code == 302
    assert not User.objects.filter(email="boss@example.org").exists()
    password = "correct horse battery staple"
    entered = client.post(accept(), {"new_password1": password, "new_password2": password})
    assert entered.status_code == 302
    boss = User.objects.get(email="boss@example.org")
    assert [each.name for each in boss.groups.all()] == ["Hiring manager"]
    assert list(Application.objects.visible_to(boss)) == [application]
    history = signed_in(anna).get(page(vacancy)).content.decode()
    assert "Added team member “boss@example.org”" in history


def test_an_existing_account_keeps_its_role_and_joins_once(anna, vacancy):
    other = colleague("guest", "Recruiter", make_brand("Third"))
    for _number in range(2):
        invited(signed_in(anna), vacancy, "Client", other.email)
        assert signed_in(other).post(accept()).status_code == 302
    assert [each.name for each in other.groups.all()] == ["Recruiter"]
    assert [each.sees for each in other.teams.all()] == ["presented"]


def test_a_colleague_is_added_and_removed(anna, vacancy):
    kim, client = colleague("kim", "Recruiter", anna.brands.get()), signed_in(anna)
    stranger = colleague("stranger", "Recruiter", make_brand("Third"))
    client.post(page(vacancy), {"add": "1", "colleague": kim.pk, "sees": "all"})
    refused = client.post(page(vacancy), {"add": "1", "colleague": stranger.pk, "sees": "x"})
    assert (refused.status_code, set(refused.context["adding"].errors)) == (
        422,
        {"colleague", "sees"},
    )
    [member] = TeamMember.objects.all()
    assert (member.user, member.added_by) == (kim, anna)
    assert "kim" in client.get(page(vacancy)).content.decode()
    assert client.post(page(vacancy), {"remove": member.pk}).status_code == 302
    assert client.post(page(vacancy), {"remove": member.pk}).status_code == 404
    assert not TeamMember.objects.exists()


def test_only_those_who_change_the_vacancy_may_and_with_no_more_than_team_roles(anna, vacancy):
    third = make_brand("Third")
    stranger, auditor = colleague("stranger", "Recruiter", third), colleague("aud", "Auditor")
    assert invited(signed_in(stranger), vacancy).status_code == 404
    assert invited(signed_in(auditor), vacancy).status_code == 403
    assert invited(signed_in(anna), vacancy, "Recruiter").status_code == 422
    assert invited(signed_in(anna), vacancy, email="no address").status_code == 422
    values = {"email": "x@example.org", "language": "en", "role": group("Hiring manager")}
    for author, brands, vacancies in (
        (stranger, [], [vacancy]),
        (anna, [anna.brands.get()], [vacancy]),
        (anna, [], []),
    ):
        with pytest.raises(NotAllowedError):
            invite(
                invitation=Invitation(author=author, **values),
                brands=brands,
                vacancies=vacancies,
                at=timezone.now(),
            )
    assert not Invitation.objects.exists()


def test_an_invitation_is_withdrawn_by_who_may_change_the_vacancy(anna, vacancy):
    invited(signed_in(anna), vacancy)
    [row] = Invitation.objects.all()
    stranger = signed_in(colleague("stranger", "Recruiter", make_brand("Third")))
    other = make_vacancy(brand=vacancy.brand)
    assert stranger.post(page(vacancy), {"withdraw": row.pk}).status_code == 404
    assert signed_in(anna).post(page(other), {"withdraw": row.pk}).status_code == 404
    assert signed_in(anna).post(page(vacancy), {"again": row.pk}).status_code == 302
    signed_in(anna).post(page(vacancy), {"withdraw": row.pk})
    assert not Invitation.objects.exists()


def test_a_copy_has_the_team_and_a_moved_vacancy_keeps_it(anna, vacancy):
    boss = colleague("boss", "Hiring manager")
    TeamMember.objects.create(vacancy=vacancy, user=boss, sees="presented")
    copy = duplicate(vacancy=vacancy, at=timezone.now(), author=anna)
    assert [(each.user, each.sees) for each in copy.team.all()] == [(boss, "presented")]
    boss.delete()  # a deleted account leaves the team
    assert not TeamMember.objects.exists()


def test_from_an_interview_and_back(anna, vacancy):
    application = apply(vacancy)
    interview = f"/admin/applications/application/{application.pk}/interview/"
    text = signed_in(anna).get(interview).content.decode()
    [address] = re.findall(r'href="([^"]+/team/[^"]+)"', text)
    kim = colleague("kim", "Hiring manager")
    other = make_vacancy(brand=vacancy.brand)
    TeamMember.objects.create(vacancy=other, user=kim)  # known from another team
    data = {"add": "1", "colleague": kim.pk, "sees": "all"}
    assert signed_in(anna).post(address, data).url == interview
    assert "kim" in signed_in(anna).get(interview).content.decode()


def test_a_notice_names_recipients_of_a_vacancy_for_a_client_but_not_who_it_is(anna, vacancy):
    application = apply(vacancy)
    origin = Origin(application=application, channel="agency", basis="request", author=anna)
    at = timezone.now()
    assert "Recipients:" not in queue_notice(origin, at=at).body
    Requisition.objects.create(vacancy=vacancy, client="Zsecret NV")
    origin.application = Application.objects.get(pk=application.pk)
    text = queue_notice(origin, at=at).body
    assert "Recipients:" in text
    assert "Zsecret" not in text

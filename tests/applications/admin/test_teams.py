"""Members of teams: which applications they see, and what of each."""

import re
from collections import Counter
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from applications.access import waiting_for
from applications.mail.outbox import Email, queue
from applications.models import (
    AccessLog,
    Application,
    ApplicationTag,
    Interview,
    Message,
    Note,
    Origin,
    Participant,
    PersonChange,
    Reason,
    Scorecard,
    Stage,
    StageChange,
    Tag,
)
from applications.operations.assigning import readers_of_all
from applications.operations.notes import add_note
from applications.querysets import readers_of
from tests.admin_pages import address, kind_of, routes
from tests.applications.admin.conftest import apply, colleague
from tests.applications.makers import make_file, make_stage, make_step, make_submission, signed_in
from tests.factories import make_brand, make_vacancy
from vacancies.models import Requisition, TeamMember, Vacancy

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"
YOURS = f"{LIST}yours/"
SECRET = "qqhidden"
ROOT = Path(__file__).parents[3]


def join(user: Any, vacancy: Vacancy, sees: str = "all") -> Any:
    TeamMember.objects.create(user=user, vacancy=vacancy, sees=sees)
    return user


def page_of(application: Application, part: str = "change") -> str:
    return f"{LIST}{application.pk}/{part}/"


@pytest.fixture
def team(office) -> SimpleNamespace:
    vacancy = office.own.vacancy
    presented = make_stage("Presented")
    Stage.objects.filter(pk=presented.pk).update(is_presented=True)
    elsewhere = apply(make_vacancy(title=f"{SECRET} other", brand=office.brand), SECRET)
    return SimpleNamespace(
        manager=join(colleague("manager", "Hiring manager"), vacancy),
        client=join(colleague("client", "Client"), vacancy, "presented"),
        guest=join(colleague("guest", "Recruiter", make_brand("Third")), vacancy),
        stranger=join(colleague("stranger", "Hiring manager"), office.foreign.vacancy),
        vacancy=vacancy,
        application=office.own,
        elsewhere=elsewhere,
        presented=presented,
    )


def move_to(application: Application, stage: Stage) -> None:
    StageChange.objects.create(application=application, stage=stage, at=timezone.now())


# --- which applications ---------------------------------------------------------------------------


def fresh(user: Any) -> Any:
    return type(user).objects.get(pk=user.pk)


def test_members_see_the_applications_of_their_teams_from_now_to_the_next_request(team, office):
    seen = {
        name: set(Application.objects.visible_to(fresh(getattr(team, name))))
        for name in ("manager", "client", "guest", "stranger")
    }
    assert seen == {
        "manager": {team.application},
        "client": set(),
        "guest": {team.application},
        "stranger": {office.foreign},
    }
    page = page_of(team.application)
    client = signed_in(team.client)
    assert client.get(page).status_code == 404
    move_to(team.application, team.presented)
    assert client.get(page).status_code == 200
    assert list(readers_of(team.vacancy, team.application.pk).filter(pk=team.client.pk))
    move_to(team.application, office.new)
    assert client.get(page).status_code == 404

    TeamMember.objects.all().delete()
    assert signed_in(team.manager).get(page).status_code == 404


def test_a_recruiter_of_another_brand_works_for_this_vacancy_only(team):
    client = signed_in(team.guest)
    assert "Rating" in client.get(page_of(team.application)).content.decode()
    assert client.get(page_of(team.elsewhere)).status_code == 302
    assert client.get(f"/admin/vacancies/vacancy/{team.vacancy.pk}/change/").status_code == 302
    assert SECRET not in client.get(LIST).content.decode()


def test_readers_are_those_who_see_it(team, office):
    names = set(readers_of(team.vacancy).values_list("username", flat=True))
    assert {"manager", "guest"} <= names
    assert not {"client", "stranger"} & names
    both = [team.application.pk, team.elsewhere.pk]  # the same brand, but not the same team
    assert "manager" not in {each.username for each in readers_of_all(both)}
    assert "manager" in {each.username for each in readers_of_all(both[:1])}


def test_the_brand_alone_decides_only_where_this_is_written():
    """Everywhere else, members of teams see what they may: visible_to, of_visible, reachable_by."""
    allowed = {
        "applications/admin/list/adding.py": 2,
        "applications/admin/page/origins.py": 1,
        "jobsite/office/reporting/hiring.py": 1,
        "jobsite/office/reporting/visits.py": 1,
    }
    found: Counter = Counter()
    for app in ("applications", "jobsite"):
        for path in (ROOT / app).rglob("*.py"):
            if count := len(re.findall(r"\bscope_to_brands\(", path.read_text())):
                found[str(path.relative_to(ROOT))] = count
    assert found == allowed


# --- what of each ---------------------------------------------------------------------------------


@pytest.fixture
def hidden(team, office) -> SimpleNamespace:
    """Everything about the application that is not for the team, with the word SECRET."""
    now, application = timezone.now(), team.application
    owner = colleague(SECRET, "Recruiter", office.brand, first_name=SECRET)
    reason = Reason.objects.create(name=f"{SECRET} reason")
    StageChange.objects.create(
        application=application, stage=team.presented, author=owner, reason=reason, at=now
    )
    Application.objects.filter(pk=application.pk).update(owner=owner, rating=4)
    Note.objects.create(application=application, author=owner, text=f"{SECRET} note")
    Note.objects.create(application=application, author=None, text="shared note", is_for_team=True)
    Note.objects.create(application=application, author=team.manager, text="own note")
    tag = Tag.objects.create(brand=office.brand, name=f"{SECRET} tag", folded=f"{SECRET} tag")
    ApplicationTag.objects.create(application=application, tag=tag)
    Origin.objects.create(application=application, channel="agency", basis="interest", author=owner)
    Scorecard.objects.create(
        application=application, author=owner, recommendation=1, text=f"{SECRET} card", sent_at=now
    )
    Requisition.objects.create(
        vacancy=team.vacancy, client=f"{SECRET} client", note=SECRET, criteria=["Diligence"]
    )
    email = {"kind": Message.Kind.TEMPLATE, "to": "mia@example.org", "language": "en"}
    email |= {"subject": f"{SECRET} subject", "body": SECRET, "application": application}
    queue(Email(**email), at=now)
    step = make_step(application, f"{SECRET} task")
    at = {"planned_at": now - timedelta(hours=2), "ends_at": now - timedelta(hours=1)}
    talk = make_step(application, "A talk", uid="1" * 32, zone="Europe/Brussels", **at)
    Participant.objects.create(entry=talk, user=team.manager, address="m@example.org")
    submission = make_submission(application, {"cv": "cv.pdf"}, source=SECRET)
    AccessLog.objects.create(actor=owner, application=application.pk, action="view")
    return SimpleNamespace(
        file=make_file(submission, "cv.pdf", b"%PDF-1.4"), step=step, talk=talk, owner=owner
    )


def addresses(team: Any, hidden: Any, viewer: Any) -> list[str]:
    """Every page of the admin for the manager; those of applications for the others."""
    rows = {
        "applications.application": [team.application.pk, team.elsewhere.pk],
        "applications.historyentry": [hidden.talk.pk, hidden.step.pk],
        "vacancies.vacancy": [team.vacancy.pk],
        "auth.user": [hidden.owner.pk],
    }
    found = []
    for route in sorted(set(routes()) - {"admin/logout/"}):
        model, kind = kind_of(route) or ("", "")
        if viewer != team.manager and not model.startswith("applications."):
            continue
        if not re.search("[<(^]", route):
            found += [f"/{route}", *([f"/{route}?q={SECRET}"] if kind == "list" else [])]
            continue
        files = kind.startswith("files")
        for pk in [hidden.file.pk] if files else rows.get(model, [team.application.pk]):
            found.append(address(route, pk, 1))
    return found


@pytest.mark.slow("opens every page of the admin, and those of applications as three viewers")
def test_no_page_tells_members_what_is_not_for_the_team(team, hidden):
    own = {page_of(team.application, part) for part in ("change", "scorecard", "note")}
    own |= {f"{LIST}files/{hidden.file.pk}/", f"{LIST}files/{hidden.file.pk}/shown/", LIST, YOURS}
    own.add("/admin/applications/historyentry/")
    wrong = []
    for viewer in (team.manager, team.client, team.stranger):
        client = signed_in(viewer)
        client.raise_request_exception = False
        for url in addresses(team, hidden, viewer):
            response = client.get(url)
            body = b"".join(response) if response.streaming else response.content
            text = f"{body.decode(errors='replace')} {response.headers}"
            # A search hits nothing, but the page repeats the words.
            tells = page_of(team.application) in text if "q=" in url else SECRET in text
            is_own = viewer != team.stranger and url in own
            tells |= not is_own and ("cv.pdf" in text or "shared note" in text)
            tells |= viewer == team.stranger and "Mia" in text
            wrong += [(viewer.username, url, "tells")] if tells else []
            if response.status_code >= 500 or (is_own and response.status_code != 200):
                wrong.append((viewer.username, url, response.status_code))
    assert wrong == []


@pytest.mark.slow("opens many pages")
def test_members_judge_on_one_page(team, hidden):
    client = signed_in(team.manager)
    waiting = client.get(YOURS).content.decode()
    assert page_of(team.application) in waiting
    page = client.get(page_of(team.application)).content.decode()
    for text in ("Presented", "A talk", "Diligence", "shared note", "own note", "cv.pdf"):
        assert text in page
    card = re.search(r'action="([^"]*scorecard[^"]*)"', page)[1].replace("&amp;", "&")
    sent = {"criteria": '["Diligence"]', "recommendation": "3", "text": "Fine", "score-0": "4"}
    assert client.post(card, sent).status_code == 302
    page = client.get(page_of(team.application)).content.decode()
    assert f"{SECRET} card" in page  # those of others, after an own one
    stored = Scorecard.objects.get(author=team.manager)
    assert (stored.recommendation, stored.entry_id) == (3, hidden.talk.pk)
    assert not waiting_for(fresh(team.manager)).exists()
    assert "Yes" in client.get(YOURS).content.decode()


@pytest.mark.slow("four viewers, six pages")
def test_who_only_judges_sees_no_candidates(team, office):
    """Not even as a member of the brand. A recruiter sees what they may of a candidate."""
    also = team.elsewhere  # of the same address, in the same brand
    inside = join(colleague("inside", "Hiring manager", office.brand), team.vacancy)
    for viewer in (team.manager, team.client, inside, team.stranger):
        client = signed_in(viewer)
        assert client.get(page_of(team.application, "candidate")).status_code == 404
        for part in ("join", "separate", "undo-join", "consider", "vacancy"):
            url = f"{page_of(team.application, part)}?other={also.pk}"
            assert client.get(url).status_code in {403, 404}
            posted = client.post(url, {"other": also.pk, "vacancy": also.vacancy_id})
            assert posted.status_code in {403, 404}
    assert not PersonChange.objects.exists()
    shown = signed_in(team.guest).get(page_of(team.application, "candidate"))
    assert set(shown.context["people"]) == {team.application}
    shown = office.anna.get(page_of(team.application, "candidate"))
    assert set(shown.context["people"]) == {team.application, also}


def test_changes_are_refused(team):
    client = signed_in(team.manager)
    before = Application.objects.filter(pk=team.application.pk).values().get()
    for part in ("rate", "owner", "tag", "unread", "email", "contact", "interview", "erase"):
        assert client.post(page_of(team.application, part), {"rating": "5"}).status_code == 403
    data = {"stage": team.presented.pk, "rating": "5"}
    client.post(page_of(team.application), data)
    assert Application.objects.filter(pk=team.application.pk).values().get() == before
    assert client.get(page_of(team.application, "history")).status_code == 404
    assert client.get(f"{LIST}board/").url == YOURS


def test_notes_of_members_are_for_the_team_and_others_if_chosen(team, hidden):
    recruiter = signed_in(hidden.owner)
    data = {"text": "Please look, @manager", "is_for_team": "on"}
    recruiter.post(page_of(team.application, "note"), data)
    signed_in(team.manager).post(page_of(team.application, "note"), {"text": "I did"})
    notes = Note.objects.filter(text__in=("I did", data["text"]))
    assert set(notes.values_list("is_for_team", flat=True)) == {True}
    assert Message.objects.get(kind="mention").recipient == team.manager

    at = timezone.now()
    _note, unknown = add_note(
        application=team.application, text="@manager, no", author=hidden.owner, at=at
    )
    assert unknown == ["manager"]  # could not read it


def test_interviews_of_members_are_in_their_calendar(team, hidden):
    rows = Interview.objects.with_colleague(team.manager)
    steps = signed_in(team.manager).get("/admin/applications/historyentry/?when=all")
    assert rows.count() == 1
    assert "A talk" in steps.content.decode()


def test_who_sees_vacancies_starts_at_the_start_page(team):
    assert signed_in(team.manager).get("/admin/").url == YOURS
    assert signed_in(team.guest).get("/admin/").status_code == 200
    assert Client().get(YOURS).status_code == 302


def test_internal_vacancies_are_for_colleagues_and_not_for_guests(team, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    assert signed_in(team.guest).get("/v1/vacancies/internal").status_code == 200
    assert signed_in(team.client).get("/v1/vacancies/internal").status_code == 403

"""The page of a candidate, joining and separating."""

import pytest
from django.contrib.auth.models import User
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import AccessLog, Application, Note, PersonChange, Tag
from applications.operations.joining import join
from tests.applications.admin.conftest import FOREIGN, apply, staff
from tests.applications.admin.page.test_page import page
from tests.applications.makers import make_file, make_step, make_submission
from tests.applications.submissions.sending import VALUES, make_open_vacancy, send
from tests.factories import make_brand, make_vacancy
from tests.messages import messages_of
from vacancies.models import TeamMember

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(office):
    """An application with the telephone number of Mia, from another address."""
    Application.objects.filter(pk=office.own.pk).update(
        phone="0470 12 34 56", phone_digits="470123456"
    )
    vacancy = make_vacancy(title="Cook", brand=office.brand)
    names = {"phone": "+32 470 12 34 56", "phone_digits": "470123456", "stage": office.new}
    return apply(vacancy, "Maria", "maria@example.org", **names)


def people(response):
    return {each.pk for each in response.context["people"]}


@pytest.mark.slow("opens many pages")
def test_page_has_all_of_the_person_and_nothing_of_other_brands(office, other):
    earlier = apply(make_vacancy(title="Baker", brand=office.brand), stage=office.new)
    apply(make_vacancy(title=f"{FOREIGN} baker", brand=office.other), stage=office.new)
    Note.objects.create(application=earlier, text="Speaks Dutch", author=None)
    make_step(earlier, "First talk", result="good", uid="1" * 32)
    make_file(make_submission(office.own, {"cv": "x"}), "Mia.pdf")
    tag = Tag.objects.create(brand=office.brand, name="Night shift", folded="night shift")
    earlier.tag_links.create(tag=tag)
    shown = office.anna.get(page(office.own, "candidate"))
    assert people(shown) == {office.own.pk, earlier.pk}
    for text in ("Speaks Dutch", "First talk – good", "Mia.pdf", "Night shift", "Maria"):
        assertContains(shown, text)
    assertNotContains(shown, FOREIGN)
    assert "no-store" in shown["Cache-Control"]
    logged = AccessLog.objects.filter(action="view").values_list("application", flat=True)
    assert set(logged) == {office.own.pk, earlier.pk}
    assertContains(office.anna.get(page(office.own)), page(office.own, "candidate"))
    assert office.anna.get(page(office.foreign, "candidate")).status_code == 404
    assertNotContains(staff("eva", "Auditor").get(page(office.own, "candidate")), "Join…")


def test_shared_mailbox_is_two_people_who_are_likely_one(office):
    jan = apply(office.own.vacancy, "Jan", family_name="Peeters", stage=office.new)
    Application.objects.filter(pk=office.own.pk).update(family_name="Maes")
    shown = office.anna.get(page(office.own, "candidate"))
    assert people(shown) == {office.own.pk}
    assert [(each.application.pk, each.signs) for each in shown.context["likely"]] == [
        (jan.pk, ["same e-mail address"])
    ]
    Application.objects.filter(pk=jan.pk).update(family_name="MÁES")
    assert people(office.anna.get(page(office.own, "candidate"))) == {office.own.pk, jan.pk}


def test_joined_separated_and_undone(office, other):
    link = f"{page(office.own, 'join')}?other={other.pk}"
    assertContains(office.anna.get(page(office.own)), link)
    assertContains(office.anna.get(link), "maria@example.org")
    done = office.anna.post(page(office.own, "join"), {"other": other.pk})
    assert messages_of(done)[0].startswith("Joined.")
    shown = office.anna.get(page(other, "candidate"))
    assert people(shown) == {office.own.pk, other.pk}
    assert not shown.context["likely"]
    assert shown.context["separable"] == {office.own.pk}
    changed = AccessLog.objects.filter(action="change").values_list("application", flat=True)
    assert set(changed) == {office.own.pk, other.pk}

    office.anna.post(page(other, "separate"), {"other": office.own.pk})
    assert set(Application.objects.values_list("person", flat=True)) == {None}
    first, last = PersonChange.objects.order_by("pk")
    late = office.anna.post(page(other, "undo-join"), {"change": first.pk})
    assert messages_of(late)[-1].startswith("Not undone")
    for change in (last, first):
        shown = office.anna.get(page(other, "candidate"))
        assert shown.context["undoable"]["pk"] == change.pk
        office.anna.post(page(other, "undo-join"), {"change": change.pk})
    assert set(Application.objects.values_list("person", flat=True)) == {None}
    assert office.anna.get(page(other, "candidate")).context["undoable"] is None


@pytest.mark.slow("opens many pages")
def test_what_cannot_be_joined_is_refused(office, other, at):
    foreign = apply(make_vacancy(brand=office.other), "Maria", "m@example.org", stage=office.new)
    for pk in (foreign.pk, "x", "", 9**18):
        for method in (office.anna.get, office.anna.post):
            assert method(page(office.own, "join"), {"other": pk}).status_code == 404
        assert office.anna.post(page(office.own, "separate"), {"other": pk}).status_code == 404
    editor = staff("editor", "Editor")
    assertContains(editor.get(page(office.own, "join"), {"other": foreign.pk}), "of two brands")
    refused = editor.post(page(office.own, "join"), {"other": foreign.pk})
    assert messages_of(refused)[0].startswith("Not joined.")
    twin = apply(foreign.vacancy, "Eva", "eva@example.org", stage=office.new)
    change = join(first=foreign, second=twin, author=None, at=at)
    for sent, status in ((change.pk, 404), (0, 404), ("x", 400), ("", 400)):
        response = office.anna.post(page(office.own, "undo-join"), {"change": sent})
        assert response.status_code == status, sent
    auditor = staff("eva", "Auditor")
    for name in ("join", "separate", "undo-join"):
        assert auditor.post(page(office.own, name), {"other": other.pk}).status_code == 403
    assert PersonChange.objects.get().undone_at is None


@pytest.mark.slow("opens many pages")
def test_recruiter_of_another_brands_team_joins_only_what_they_see(office, other, at):
    """`other` is in the team's vacancy; `unseen` is not, and has the address of Mia."""
    guest = staff("guest", brands=[make_brand("Third")])
    user = User.objects.get(username="guest")
    TeamMember.objects.create(user=user, vacancy=office.own.vacancy)
    vacancy = make_vacancy(brand=office.brand)
    unseen = apply(vacancy, "Mia", "mia@example.org", stage=office.new)
    third = apply(vacancy, "M", "m@example.org", stage=office.new)

    def numbers():
        return dict(Application.objects.order_by("pk").values_list("pk", "person"))

    Application.objects.filter(pk=other.pk).update(vacancy=office.own.vacancy)
    guest.post(page(office.own, "join"), {"other": other.pk})
    joined = dict.fromkeys((office.own.pk, other.pk), office.own.pk)
    assert numbers() == {office.foreign.pk: None, unseen.pk: None, third.pk: None} | joined

    # What colleagues joined with others stays so.
    change = join(first=office.own, second=third, author=None, at=at)
    same = numbers()
    assert same[unseen.pk] == same[third.pk] == office.own.pk
    guest.post(page(office.own, "separate"), {"other": other.pk})
    assert numbers() == same | {other.pk: None}
    guest.post(page(office.own, "join"), {"other": other.pk})
    assert numbers() == same
    shown = guest.get(page(office.own, "candidate"))
    PersonChange.objects.exclude(pk=change.pk).delete()
    assert guest.get(page(office.own, "candidate")).context["undoable"] is None
    assert guest.post(page(office.own, "undo-join"), {"change": change.pk}).status_code == 404
    assert people(shown) == {office.own.pk, other.pk}


def test_applied_again_counts_other_vacancies_of_the_brand_but_nobody_else(at, office):
    Application.objects.all().delete()
    first, second, foreign = (
        make_open_vacancy(brand=brand) for brand in (office.brand, office.brand, office.other)
    )
    brother = VALUES | {"first_name": "Jan", "last_name": "Smets"}  # with the same mailbox
    for vacancy, values in ((first, VALUES), (second, VALUES), (foreign, VALUES), (first, brother)):
        assert send(vacancy, values).status_code == 201
    marks = Application.objects.order_by("pk").values_list("is_repeated", flat=True)
    assert list(marks) == [False, True, False, False]

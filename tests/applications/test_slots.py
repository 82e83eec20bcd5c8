"""Times that applicants choose from."""

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import pytest
from django.db import connection
from django.urls import reverse

from applications.models import (
    Application,
    Interview,
    Message,
    Offer,
    Participant,
    Slot,
    SlotSet,
)
from applications.operations import withdraw_application
from applications.operations.interviews import cancel_interviews, reply
from applications.operations.slots import (
    ChoiceClosedError,
    OfferedTimes,
    TakenError,
    choose,
    free_slots,
    is_changeable,
    offer_slots,
)
from applications.privacy import erase_application
from applications.submissions.links import receipt_path
from tests.applications.admin.conftest import apply, colleague
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from tests.messages import messages_of
from tests.parallel import at_once

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def build(people=2, starts=(2 * DAY, 3 * DAY), **values):
    brand = make_brand("Acme")
    vacancy = make_vacancy(title="Nurse", brand=brand)
    own = [
        apply(vacancy, f"Mia{n}", f"mia{n}@example.org", reference=f"MIA{n}") for n in range(people)
    ]
    anna = colleague("anna", "", brand)
    given = {
        "vacancy": vacancy,
        "author": anna,
        "name": "Talk",
        "minutes": 60,
        "zone": "Europe/Brussels",
        "closes_at": NOW + 9 * DAY,
    } | values
    slots = SlotSet(**given)
    pks = offer_slots(
        OfferedTimes(
            slot_set=slots,
            starts=[NOW + start for start in starts],
            colleagues=[anna],
            applications=[each.pk for each in own],
        ),
        at=NOW,
    )
    offers = {each.application_id: each for each in Offer.objects.all()}
    return SimpleNamespace(
        set=slots,
        own=own,
        anna=anna,
        told=pks,
        vacancy=vacancy,
        brand=brand,
        offers=[offers[each.pk] for each in own if each.pk in offers],
        slots=list(slots.slots.all()),
    )


def test_choosing_schedules_the_interview_and_takes_the_time(at):
    office = build()
    assert [each.to for each in Message.objects.order_by("pk")] == [
        "mia0@example.org",
        "mia1@example.org",
    ]
    assert Message.objects.first().subject == "Choose a time: Interview: Nurse, Acme"
    entry = choose(offer=office.offers[0], slot=office.slots[0], at=NOW)
    assert (entry.planned_at, entry.ends_at) == (NOW + 2 * DAY, NOW + 2 * DAY + timedelta(hours=1))
    assert sorted(Message.objects.exclude(calendar="").values_list("to", flat=True)) == [
        "anna@example.org",
        "mia0@example.org",
    ]
    assert free_slots(office.set, at=NOW) == office.slots[1:]
    with pytest.raises(TakenError):
        choose(offer=office.offers[1], slot=office.slots[0], at=NOW)
    assert Interview.objects.count() == 1


def test_choosing_accepts_and_a_declined_time_is_offered_again(at):
    office = build()
    entry = choose(offer=office.offers[0], slot=office.slots[0], at=NOW)
    applicant = entry.participants.get(user=None)
    assert applicant.reply == "accepted"

    def answer(value):
        reply(participant=applicant, reply=Participant.Reply(value), at=NOW)
        return [slot.starts_at for slot in free_slots(office.set, at=NOW)]

    first, second = (slot.starts_at for slot in office.slots)
    assert [answer("declined"), answer("accepted")] == [[first, second], [second]]
    answer("declined")
    choose(offer=office.offers[1], slot=office.slots[0], at=NOW)
    assert answer("accepted") == [second]  # too late: it is somebody else's


def test_changing_works_until_the_notice_and_frees_the_first_time(at):
    office = build(people=1)
    (offer,) = office.offers
    first = choose(offer=offer, slot=office.slots[0], at=NOW)
    again = choose(offer=offer, slot=office.slots[1], at=NOW)
    assert (again.pk, again.sequence, again.planned_at) == (first.pk, 1, NOW + 3 * DAY)
    assert free_slots(office.set, at=NOW) == office.slots[:1]
    offer.refresh_from_db()
    assert is_changeable(offer, at=NOW + 2 * DAY - timedelta(seconds=1))
    assert not is_changeable(offer, at=NOW + 2 * DAY)
    with pytest.raises(ChoiceClosedError):
        choose(offer=offer, slot=office.slots[0], at=NOW + 2 * DAY)


def test_times_within_the_notice_and_after_the_end_are_refused(at):
    office = build(people=1, starts=(DAY, 2 * DAY), closes_at=NOW + DAY)
    (offer,) = office.offers
    assert free_slots(office.set, at=NOW) == office.slots[1:]
    for slot, moment in ((office.slots[0], NOW), (office.slots[1], NOW + DAY)):
        with pytest.raises(ChoiceClosedError):
            choose(offer=offer, slot=slot, at=moment)


def test_two_sets_of_one_colleague_do_not_overlap(at):
    office = build(people=1)
    other = SlotSet(
        vacancy=office.vacancy,
        author=office.anna,
        name="Other",
        minutes=60,
        zone="UTC",
        closes_at=NOW + 9 * DAY,
    )
    second = apply(office.vacancy, "Jan", "jan@example.org")
    start = NOW + 2 * DAY + timedelta(minutes=30)
    offer_slots(
        OfferedTimes(
            slot_set=other, starts=[start], colleagues=[office.anna], applications=[second.pk]
        ),
        at=NOW,
    )
    choose(offer=office.offers[0], slot=office.slots[0], at=NOW)
    assert free_slots(other, at=NOW) == []
    with pytest.raises(TakenError):
        choose(offer=second.offers.get(), slot=other.slots.get(), at=NOW)
    Participant.objects.filter(user=office.anna).update(reply="declined")
    choose(offer=second.offers.get(), slot=other.slots.get(), at=NOW)


@pytest.mark.parametrize("how", ["withdraw", "erase", "cancel"])
def test_withdrawal_erasure_and_cancellation_free_the_time(at, how):
    office = build()
    entry = choose(offer=office.offers[0], slot=office.slots[0], at=NOW)
    if how == "withdraw":
        withdraw_application(application=office.own[0], at=NOW)
        withdraw_application(application=office.own[1], at=NOW)  # had not chosen yet
        assert not Offer.objects.exists()
    elif how == "erase":
        erase_application(application=office.own[0])
    else:
        cancel_interviews([entry], author=office.anna, at=NOW)
    assert free_slots(office.set, at=NOW) == office.slots
    assert Slot.objects.filter(offer=None).count() == 2


def test_withdrawn_applicants_and_those_without_an_address_get_no_offer(at):
    office = build(people=1)
    withdrawn = apply(office.vacancy, "Jan", "jan@example.org", withdrawn_at=NOW)
    silent = apply(office.vacancy, "Piet", "")
    elsewhere = apply(make_vacancy(), "Els", "els@example.org")
    another = SlotSet(vacancy=office.vacancy, name="x", minutes=5, zone="UTC", closes_at=NOW + DAY)
    pks = [withdrawn.pk, silent.pk, elsewhere.pk]
    times = OfferedTimes(slot_set=another, starts=[NOW + DAY], colleagues=[], applications=pks)
    assert offer_slots(times, at=NOW) == []
    assert another.offers.count() == 0


def test_applicant_chooses_on_the_page(at, client):
    office = build()
    base = receipt_path(office.own[0])
    page = client.post(base, follow=True).content.decode()
    assert "Wednesday 4 Mar 2026, 10:30–11:30 (Europe/Brussels, UTC+1)" in page
    data = {"offer": office.offers[0].pk, "slot": office.slots[0].pk}
    wrong = (
        {},
        data | {"slot": "x"},
        data | {"offer": office.offers[1].pk},
        data | {"slot": 99999},
    )
    assert [client.post(f"{base}/choose", each).status_code for each in wrong] == [404] * 4
    assert client.post(f"{base}/choose", data).status_code == 302
    page = client.get(base).content.decode()
    assert "You can choose another time:" in page
    taken = client.post(
        f"{receipt_path(office.own[1])}/choose", {**data, "offer": office.offers[1].pk}
    )
    assert taken.status_code == 409
    assert "This time was taken. Choose another one." in taken.content.decode()


# --- The page that offers -------------------------------------------------------------------------

FIELDS = {
    "name": "Talk",
    "minutes": "60",
    "zone": "Europe/Brussels",
    "place": "",
    "video_url": "",
    "details": "",
    "notice_hours": "24",
    "closes_on": "2026-03-20",
    "day1": "2026-03-10",
    "from1": "09:00",
    "until1": "12:00",
    "day2": "2026-03-11",
    "from2": "13:30",
    "until2": "15:00",
}


@pytest.fixture
def recruiter_page(module_roles, db, at, client):
    brand = make_brand("Acme")
    client.force_login(colleague("anna", "Recruiter", brand))
    vacancy = make_vacancy(title="Nurse", brand=brand)
    own = [apply(vacancy, name, f"{name}@example.org") for name in ("mia", "jan")]
    field = ",".join(f"{each.pk}:" for each in own)

    def post(**values):
        url = reverse("admin:applications_application_choose_times")
        return client.post(url, FIELDS | {"applications": field} | values)

    return post


def test_recruiter_offers_times_after_a_preview(recruiter_page):
    assert recruiter_page(step="").status_code == 200
    preview = recruiter_page(step="preview")
    assert preview.context["times"] == [
        "Tuesday 10 Mar 2026, 09:00–10:00 (Europe/Brussels, UTC+1)",
        "Tuesday 10 Mar 2026, 10:00–11:00 (Europe/Brussels, UTC+1)",
        "Tuesday 10 Mar 2026, 11:00–12:00 (Europe/Brussels, UTC+1)",
        "Wednesday 11 Mar 2026, 13:30–14:30 (Europe/Brussels, UTC+1)",
    ]
    assert preview.context["email"].subject == "Choose a time: Interview: Nurse, Acme"
    assert not SlotSet.objects.exists()
    assert messages_of(recruiter_page(step="send")) == ["2 applicants may choose a time."]
    slots = SlotSet.objects.get()
    assert (slots.slots.count(), slots.offers.count(), Message.objects.count()) == (4, 2, 2)
    assert slots.closes_at == datetime(2026, 3, 20, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "field", "error"),
    [
        ({"day1": "", "day2": ""}, "day1", "Enter the day, and from when until when."),
        ({"until1": "09:30"}, "day1", "From 09:00 until 09:30 there is no time for an interview."),
        ({"day1": "2026-03-01"}, "day1", "This time has passed. Choose a later one."),
        ({"minutes": "4"}, "day1", "These are 67 times. At most 40 are allowed."),
        ({"closes_on": "2026-03-01"}, "closes_on", "This day has passed. Choose a later one."),
        (
            {"day1": "2026-10-25", "from1": "02:30"},
            "day1",
            "The clocks show 02:30 twice on this day.",
        ),
        ({"day1": "2026-03-29", "from1": "02:30"}, "day1", "The clocks skip 02:30 on this day."),
    ],
)
def test_wrong_periods_are_errors(recruiter_page, values, field, error):
    response = recruiter_page(step="send", **values)
    assert response.status_code == 422
    assert error in str(response.context["form"].errors[field])
    assert not SlotSet.objects.exists()


# --- Races ----------------------------------------------------------------------------------------


@pytest.mark.slow("20 applicants choose one time at once")
@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one write at a time")
def test_one_of_twenty_applicants_gets_the_time(at):
    office = build(people=20, starts=(2 * DAY,))

    def attempt(offer):
        try:
            return choose(offer=offer, slot=office.slots[0], at=NOW)
        except TakenError:
            return None

    entries = at_once(*(partial(attempt, offer) for offer in office.offers))
    assert [each is None for each in entries].count(True) == 19
    assert (Interview.objects.count(), Slot.objects.exclude(offer=None).count()) == (1, 1)
    assert Message.objects.exclude(calendar="").count() == 2


@pytest.mark.slow("two sets of one colleague at once, ten times")
@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one write at a time")
def test_two_sets_of_one_colleague_never_overlap(at):
    office = build(people=10, starts=tuple(2 * DAY + timedelta(hours=n) for n in range(10)))
    other = SlotSet(
        vacancy=office.vacancy,
        author=office.anna,
        name="Other",
        minutes=60,
        zone="UTC",
        closes_at=NOW + 9 * DAY,
    )
    people = [apply(office.vacancy, f"Jan{n}", f"jan{n}@example.org") for n in range(10)]
    starts = [NOW + 2 * DAY + timedelta(hours=n, minutes=30) for n in range(10)]
    offer_slots(
        OfferedTimes(
            slot_set=other,
            starts=starts,
            colleagues=[office.anna],
            applications=[each.pk for each in people],
        ),
        at=NOW,
    )
    theirs = zip(Offer.objects.filter(set=other).order_by("pk"), other.slots.all(), strict=True)
    pairs = [*zip(office.offers, office.slots, strict=True), *theirs]

    def attempt(offer, slot):
        try:
            return choose(offer=offer, slot=slot, at=NOW)
        except TakenError:
            return None

    at_once(*(partial(attempt, *pair) for pair in pairs))
    times = sorted(Interview.objects.taking_place().values_list("planned_at", "ends_at"))
    assert times
    assert all(end <= start for (_, end), (start, _) in pairwise(times))
    assert Application.objects.count() == 20

"""The talent pool: asking, answering, staying, leaving, and what is kept."""

from datetime import date, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from applications import operations, privacy
from applications.models import Application, ConsentRequest, Message
from applications.operations.pool import PoolRenewals, ask_for_pool, why_not_asked
from applications.submissions.links import receipt_path
from forms_structure.models import ConsentText
from tests.applications.admin.conftest import apply
from tests.applications.makers import make_user, signed_in
from tests.applications.submissions.sending import (
    STRUCTURE,
    VALUES,
    make_field,
    make_form,
    make_open_vacancy,
    send,
)
from tests.factories import make_vacancy
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db
UNTIL = date(2028, 3, 2)  # POOL_MONTHS after NOW
DAY = timedelta(days=1)


@pytest.fixture
def mia(at, acme):
    """An application to Acme that is a year old."""
    return apply(make_vacancy(title="Nurse", brand=acme), created_at=at - timedelta(days=365))


def join(application, at):
    assert ask_for_pool([application.pk], at=at) == [application.pk]
    assert operations.join_pool(application=application, at=at)


def state(application):
    found = operations.pool_states([application.pk], at=timezone.now())
    return str(found[application.pk]) if found else ""


def in_pool():
    return set(Application.objects.in_pool())


def pool_of(application):
    return application.consent_requests.get(purpose="pool")


def dispatch(at):
    """Run the job until nothing is due. Return the subjects of the emails that it queued."""
    before = set(Message.objects.values_list("pk", flat=True))
    job = PoolRenewals()
    while item := job.next_due(at):
        job.run(item)
    queued = Message.objects.exclude(pk__in=before).order_by("pk")
    return list(queued.values_list("subject", flat=True))


# --- asking ---


def test_question_has_the_text_of_the_brand_in_the_language_of_the_application(mia, acme, at):
    for brand, text in ((None, "Site."), (acme.pk, "Acme.")):
        ConsentText.objects.add(language="en", text=text, brand_number=brand, purpose="pool")
    ConsentText.objects.add(language="en", text="Not this one.", brand_number=acme.pk)

    ask_for_pool([mia.pk], base_url="https://jobs.test", at=at)

    message = Message.objects.get()
    assert (message.kind, message.subject, message.to) == (
        "pool",
        "May we keep your data for other vacancies?",
        "mia@example.org",
    )
    assert "We ask for your consent:\nAcme.\n" in message.text.replace("vacancies. We", "We")
    assert f"https://jobs.test/account/receipt/{Message.SECRET}" in message.text
    assert "keep your data for 24 months" in message.text
    row = pool_of(mia)
    assert (row.text, row.brand_number, row.employer) == ("Acme.", acme.pk, "Acme")
    assert (row.due_on, state(mia)) == (
        date(2026, 4, 1),
        "Asked for the talent pool on 2 Mar 2026.",
    )
    assert in_pool() == set()


def test_who_is_not_asked(mia, beta, at):
    vacancy = mia.vacancy
    by_id = {
        "Without an e-mail address": apply(vacancy, address=""),
        "Withdrawn": apply(vacancy, address="w@example.org", withdrawn_at=at),
        "The applicant has not agreed yet that we store the application.": apply(
            vacancy, address="s@example.org"
        ),
        "Asked for the talent pool on 2 Mar 2026.": apply(vacancy, address="a@example.org"),
        "In the talent pool until 2 Mar 2028.": apply(vacancy, address="p@example.org"),
        "Refused the talent pool on 2 Mar 2026.": apply(vacancy, address="n@example.org"),
        "Asked about another of the selected applications.": apply(
            make_vacancy(brand=vacancy.brand), created_at=at - 400 * DAY
        ),
    }
    _none, _withdrawn, stored, asked, joined, refused, _second = by_id.values()
    ConsentRequest.objects.create(
        application=stored, purpose="application", text="", version=1, due_on=UNTIL
    )
    ask_for_pool([asked.pk, refused.pk], at=at)
    join(joined, at)
    privacy.leave_pool(application=refused, at=at)
    # Another application of somebody in the pool; the same at another brand is asked.
    other = apply(make_vacancy(brand=vacancy.brand), address="p@example.org")
    elsewhere = apply(make_vacancy(brand=beta), address="p@example.org")
    chosen = [mia, *by_id.values(), other, elsewhere]

    rows = Application.objects.filter(pk__in=[each.pk for each in chosen])
    found = why_not_asked(rows.with_email_facts().newest_first(), at=at)

    expected = {each.pk: reason for reason, each in by_id.items()}
    assert found == expected | {other.pk: "In the talent pool until 2 Mar 2028."}
    assert set(ask_for_pool([each.pk for each in chosen], at=at)) == {mia.pk, elsewhere.pk}
    assert ask_for_pool([mia.pk], at=at) == []  # two colleagues at once


# --- answering ---


def test_first_yes_counts_and_no_ends_it(mia, at, time_machine):
    join(mia, at)
    assert (pool_of(mia).until, in_pool()) == (UNTIL, {mia})
    time_machine.move_to(at + DAY)
    assert not operations.join_pool(application=mia, at=at + DAY)
    assert pool_of(mia).until == UNTIL

    privacy.leave_pool(application=mia, at=at + DAY)
    assert (in_pool(), state(mia)) == (set(), "Left the talent pool on 3 Mar 2026.")
    assert not operations.join_pool(application=mia, at=at + DAY)
    assert (pool_of(mia).answer, in_pool()) == ("yes", set())


def test_no_counts_for_all_applications_of_the_applicant_to_the_brand(mia, acme, beta, at):
    user = make_user()
    same = apply(make_vacancy(brand=acme))
    Application.objects.filter(pk=same.pk).update(user=user)
    by_account = apply(make_vacancy(brand=acme), address="other@example.org")
    Application.objects.filter(pk=by_account.pk).update(user=user)
    elsewhere = apply(make_vacancy(brand=beta))
    others = apply(make_vacancy(brand=acme), address="jan@example.org")
    for each in (mia, same, by_account, elsewhere, others):
        ConsentRequest.objects.create(
            application=each, purpose="pool", answer="yes", answered_at=at, until=UNTIL,
            text="", version=1, due_on=UNTIL,
        )  # fmt: skip

    privacy.leave_pool(application=Application.objects.get(pk=same.pk), at=at)

    assert in_pool() == {elsewhere, others}


def test_late_answer_does_not_count(mia, at, time_machine):
    ask_for_pool([mia.pk], at=at)
    late = at + timedelta(days=31)
    time_machine.move_to(late)

    assert not operations.join_pool(application=mia, at=late)
    assert state(mia) == "Asked for the talent pool on 2 Mar 2026, without an answer."
    assert ask_for_pool([mia.pk], at=late) == [mia.pk]


def test_consent_to_the_text_of_a_brand_is_for_that_brand_only(mia, acme, beta, at):
    """Also when a brand is deleted: its vacancies belong to another one then."""
    join(mia, at)  # the text of the site
    ConsentText.objects.add(language="en", text="Acme.", brand_number=acme.pk, purpose="pool")
    own = apply(mia.vacancy, address="own@example.org")
    join(own, at)
    assert in_pool() == {mia, own}

    Vacancy.objects.filter(pk=mia.vacancy_id).update(brand=beta)

    assert in_pool() == {mia}
    assert state(own) == "Agreed to the talent pool of Acme only."


# --- forms ---


def test_checkbox_of_a_form_joins_if_it_is_ticked(at, django_capture_on_commit_callbacks):
    box = make_field("pool", "checkbox", label="Keep my data.", role="pool")
    section = {"title": "", "description": "", "fields": [box]}
    vacancy = make_open_vacancy(make_form([*STRUCTURE, section]))
    assert send(vacancy, VALUES).status_code == 201
    assert send(vacancy, VALUES | {"pool": "1", "email": "yes@example.org"}).status_code == 201

    [row] = ConsentRequest.objects.all()
    assert (row.application.email, row.text, row.version, row.until) == (
        "yes@example.org",
        "Keep my data.",
        0,
        UNTIL,
    )
    assert in_pool() == {row.application}


# --- staying ---


def test_renewal_is_asked_before_the_end_and_reminded_once(mia, at, time_machine):
    join(mia, at)
    for day, expected in (
        (UNTIL - 31 * DAY, []),
        (UNTIL - 30 * DAY, ["Do you want to stay in our talent pool?"]),
        (UNTIL - 11 * DAY, []),
        (UNTIL - 10 * DAY, ["Reminder: Do you want to stay in our talent pool?"]),
        (UNTIL, []),
        (UNTIL + DAY, []),
    ):
        now = at.replace(year=day.year, month=day.month, day=day.day)
        time_machine.move_to(now)
        assert dispatch(now) == expected, day
        assert in_pool() == ({mia} if day <= UNTIL else set())
    asked = Message.objects.order_by("pk")[1].text
    assert "Without an answer, you leave the talent pool after 2 Mar 2028." in asked


def test_yes_to_a_renewal_is_valid_from_then_and_no_ends_both(mia, at, time_machine):
    join(mia, at)
    now = at.replace(year=2028, month=2, day=10)
    time_machine.move_to(now)
    dispatch(now)
    assert state(mia) == "In the talent pool until 2 Mar 2028, asked on 10 Feb 2028 to stay longer."
    assert operations.join_pool(application=mia, at=now)
    assert state(mia) == "In the talent pool until 10 Feb 2030."
    assert dispatch(now) == []

    privacy.leave_pool(application=mia, at=now)
    assert in_pool() == set()


def test_first_question_has_no_reminder(mia, at):
    ask_for_pool([mia.pk], at=at)
    assert dispatch(at + 25 * DAY) == []


# --- retention and restore ---


def purge(now):
    return privacy.purge(before=now - timedelta(days=180), now=now)["applications"]


def test_consent_keeps_an_application_until_its_last_day(mia, at, time_machine):
    """Then the ordinary period counts, from the last change: it is over already."""
    join(mia, at)
    ends = at.replace(year=2028)
    time_machine.move_to(ends)
    assert purge(ends) == 0
    time_machine.move_to(ends + DAY)
    assert purge(ends + DAY) == 1


def test_question_neither_keeps_nor_deletes(mia, at):
    young = apply(mia.vacancy, address="young@example.org", created_at=at - DAY)
    ask_for_pool([mia.pk, young.pk], at=at)
    assert purge(at) == 1
    assert purge(at + 100 * DAY) == 0  # the question to `young` is over


def test_who_left_is_deleted_with_the_next_purge(mia, at):
    join(mia, at)
    privacy.leave_pool(application=mia, at=at)
    assert purge(at) == 1


@pytest.mark.parametrize("is_answered", [False, True])
def test_restore_of_a_backup_from_before_no_does_not_bring_it_back(mia, at, is_answered):
    (join if is_answered else lambda each, at: ask_for_pool([each.pk], at=at))(mia, at)
    kept = apply(mia.vacancy, address="kept@example.org")
    join(kept, at)
    backup = list(ConsentRequest.objects.all())
    operations.join_pool(application=mia, at=at)
    privacy.leave_pool(application=mia, at=at)

    ConsentRequest.objects.all().delete()
    ConsentRequest.objects.bulk_create(backup)
    assert privacy.erase_again()["left_pool"] == 1

    assert in_pool() == {kept}
    assert not operations.join_pool(application=mia, at=at)
    assert privacy.erase_again()["left_pool"] == 0


def test_no_that_cannot_be_recorded_is_not_taken(mia, at, settings, tmp_path, client):
    settings.ERASURE_LOG = str(tmp_path / "missing" / "log")
    join(mia, at)
    response = client.post(f"{receipt_path(mia)}/pool", {"answer": "no"})
    assert response.status_code == 503
    assert "Your answer cannot be recorded" in response.content.decode()
    assert in_pool() == {mia}


# --- pages of applicants ---


def test_personal_page_asks_and_lets_the_applicant_leave(mia, at, client):
    path = receipt_path(mia)
    ask_for_pool([mia.pk], at=at)
    client.post(path)  # "Is this your application?"
    assert "If you agree, we keep your data until 2 Mar 2028." in client.get(path).content.decode()
    assert client.post(f"{path}/pool", {"answer": "maybe"}).status_code == 422

    assert client.post(f"{path}/pool", {"answer": "yes"})["Location"] == f"{path}#pool"
    shown = client.get(path).content.decode()
    assert "You are in our talent pool until 2 Mar 2028" in shown
    assert 'value="yes"' not in shown

    client.post(f"{path}/pool", {"answer": "no"})
    assert "You left our talent pool on 2 Mar 2026." in client.get(path).content.decode()
    exported = client.get(f"{path}/export").json()["applications"][0]["consent_requests"]
    assert [(each["until"], each["left_at"][:10]) for each in exported] == [
        ("2028-03-02", "2026-03-02")
    ]


def test_account_lets_its_owner_leave(mia, at):
    user = make_user()
    Application.objects.filter(pk=mia.pk).update(user=user)
    join(mia, at)
    client, url = signed_in(user), reverse("application-own-pool", args=[mia.pk])
    assert f"/account/applications/{mia.pk}\n" in Message.objects.get().text
    assert f'action="{url}"' in client.get("/account/").content.decode()

    assert signed_in(make_user()).post(url, {"answer": "no"}).status_code == 404
    # Whoever has the link, but not the account, does not answer.
    signed_in(make_user()).post(f"{receipt_path(mia)}/pool", {"answer": "no"})
    assert in_pool() == {mia}
    client.post(url, {"answer": "no"})
    assert in_pool() == set()


def test_old_link_leads_out_of_the_pool_only(mia, at, client, time_machine):
    path = receipt_path(mia)
    join(mia, at)
    time_machine.move_to(at + timedelta(days=300))
    expired = client.get(path)
    assert expired.status_code == 404
    assert f'href="{path}/leave"' in expired.content.decode()
    assert "Nurse" not in client.get(f"{path}/leave").content.decode()

    client.post(f"{path}/leave")
    assert in_pool() == set()
    assert f"{path}/leave" not in client.get(path).content.decode()
    assert client.get(f"{path[:-2]}/leave").status_code == 404

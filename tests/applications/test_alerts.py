"""Job alerts: sign-up, confirmation, what they tell, and their end."""

import re
from datetime import timedelta
from email import message_from_bytes

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from applications.alerts import operations
from applications.alerts.job import JobAlerts
from applications.alerts.mail import NewsEmails, queue_confirmation, queue_renewal
from applications.alerts.queries import matching
from applications.mail.delivery import MailDelivery, as_email
from applications.mail.links import alert_token
from applications.models import BrandMail, JobAlert, Message, ToldVacancy
from applications.privacy import erase_again
from jobsite.models import Erasure
from tests.applications.personal_data import run
from tests.conftest import NOW
from tests.factories import make_brand, make_option, make_vacancy
from tests.vacancies.test_languages import MARK, leftovers
from vacancies.models import BrandLink, Requisition, Vacancy
from vacancies.operations.options import merge_options

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at")]
DAY = timedelta(days=1)
MAIL = "zyx@example.org"
PAGE = "/alerts"
REGIONS = "filter%5Bregions%5D="


@pytest.fixture(autouse=True)
def _career_site(settings):
    settings.CAREER_SITE = True
    settings.PUBLIC_BASE_URL = "https://jobs.example.org"


def sign_up(query="", address=MAIL, client=None, page=PAGE, **values):
    data = {"address": address, "frequency": "daily", **values}
    return (client or Client()).post(f"{page}?{query}" if query else page, data)


def make_alert(query="", *, address=MAIL, confirmed_at=NOW - DAY, **values):
    return JobAlert.objects.create(
        **{
            "address": address,
            "address_folded": address,
            "query": query,
            "language": "en",
            "frequency": "daily",
            "created_at": NOW - DAY,
            "confirmed_at": confirmed_at,
            "told_at": NOW - DAY,
            "ends_at": NOW + 300 * DAY,
        }
        | values
    )


def morning(at=NOW, job=None):
    """Do the alerts of `at`."""
    job = job or JobAlerts()
    while item := job.next_due(at):
        job.run(item)


def told():
    """Return the titles in each email, by address."""
    found = {}
    for message in Message.objects.filter(kind="alert").order_by("pk"):
        lines = message.body.splitlines()
        titles = [lines[n - 2] for n, line in enumerate(lines) if "source=alert" in line]
        found.setdefault(message.to, []).append(titles)
    return found


# --- Sign-up and confirmation ---------------------------------------------------------------------


def test_alert_is_told_after_its_address_was_confirmed():
    make_option("regions", "Ghent")
    query = "sort=title&filter[search]=nurse&filter[regions]=ghent&page[number]=2&filter[types]=&utm_source=x"
    jobs = Client().get("/nl/jobs?filter[search]=nurse&sort=title&page[number]=1")
    assert jobs.context["alert"] == "/nl/alerts?filter%5Bsearch%5D=nurse"
    page = Client().get(f"{PAGE}?{query}")
    assert page.status_code == 200
    assert [value for _label, value in page.context["words"]] == ["nurse", "Ghent"]

    assert sign_up(query, frequency="weekly").headers["Location"] == "/alerts/sent"
    alert = JobAlert.objects.get()
    assert alert.query == "filter%5Bregions%5D=ghent&filter%5Bsearch%5D=nurse"
    assert (alert.frequency, alert.language, alert.confirmed_at) == ("weekly", "en", None)
    email = as_email(Message.objects.get())
    link = next(line for line in email.body.splitlines() if line.startswith("https://"))
    path = f"/alerts/confirm/{alert_token(alert)}"
    assert link == f"https://jobs.example.org{path}"
    assert "nurse" not in email.subject + email.body  # anybody could write there

    page = Client().get(path)  # a mail scanner
    assert (page.status_code, MAIL in page.content.decode()) == (200, False)
    assert JobAlert.objects.get().confirmed_at is None
    confirmed = Client(enforce_csrf_checks=True).post(path, follow=True)
    assert confirmed.redirect_chain == [(f"/alerts/{alert_token(alert)}", 302)]
    assert JobAlert.objects.get().confirmed_at == NOW
    assert not confirmed.cookies


def test_every_sign_up_gets_the_same_answer(time_machine):
    first = sign_up()
    JobAlert.objects.update(confirmed_at=NOW)
    again = sign_up(address=MAIL.upper())
    assert [message.subject for message in Message.objects.order_by("pk")] == [
        "Confirm your job alert",
        "You have this job alert already",
    ]
    others = [sign_up(f"filter[search]=word{n}") for n in range(5)]
    assert (Message.objects.count(), JobAlert.objects.count()) == (3, 2)  # three emails in an hour
    answers = {
        (each.status_code, str(each.headers), each.content) for each in (first, again, *others)
    }
    assert len(answers) == 1
    sign_up("filter[search]=word", address="other@example.org")
    assert Message.objects.count() == 4

    time_machine.move_to(NOW + timedelta(minutes=61), tick=False)
    sign_up("filter[search]=later")
    assert Message.objects.filter(to=MAIL).count() == 4


def test_sign_up_does_the_same_work_for_every_address():
    """The time must not tell who has an alert, or got many links."""

    def statements(address):
        with CaptureQueriesContext(connection) as queries:
            sign_up(address=address)
        return [each["sql"].split()[0] for each in queries if "SAVEPOINT" not in each["sql"]]

    expected = statements("new@example.org")
    assert statements("new@example.org") == expected
    JobAlert.objects.update(confirmed_at=NOW)
    assert statements("new@example.org") == expected
    before = list(JobAlert.objects.values()), Message.objects.count()
    assert statements("New+1@example.org") == expected  # refused
    assert (list(JobAlert.objects.values()), Message.objects.count()) == before


def test_invalid_sign_up_stores_nothing():
    for address in (
        "",
        "a",
        f"{MAIL}\r\nBcc: x@example.org",
        f"{MAIL},x@example.org",
        "a\0@example.org",
        "é@x.be",
    ):
        answer = sign_up(address=address)
        assert (answer.status_code, "Enter one e-mail address" in answer.content.decode()) == (
            422,
            True,
        ), address
    assert sign_up(frequency="hourly").context["errors"].keys() == {"frequency"}
    assert sign_up(contact_me_by_fax="x").context["errors"].keys() == {""}
    for query in (
        "search=nurse",
        "filter[near]=1",
        "filter[regionen]=x",
        f"filter[regions]={'x' * 99 + ','}" * 20,
    ):
        for answer in (Client().get(f"{PAGE}?{query}"), sign_up(query)):
            assert (answer.status_code, answer.templates[0].name) == (400, "site/invalid.html"), (
                query
            )
    assert not JobAlert.objects.exists()
    assert not Message.objects.exists()


def test_sign_ups_of_a_client_are_limited(settings, monkeypatch):
    settings.RATE_LIMIT = "600/min"
    monkeypatch.setattr("jobsite.site.alerts.ATTEMPTS", "2/hour")
    answers = [sign_up(address=f"a{n}@example.org") for n in range(3)]
    assert [each.status_code for each in answers] == [302, 302, 429]
    assert answers[-1].has_header("Retry-After")


def test_pages_are_404_without_the_career_site(settings):
    path = f"{PAGE}/{alert_token(make_alert())}"
    settings.CAREER_SITE = False
    paths = (PAGE, f"{PAGE}/sent", path, f"{path}/unsubscribe", f"{PAGE}/confirm/x", f"/nl{PAGE}")
    assert {Client().get(each).status_code for each in paths} == {404}
    make_vacancy()
    morning()
    assert not Message.objects.exists()


@pytest.mark.slow("opens many pages")
def test_pages_and_emails_are_in_the_language_of_the_alert():
    """No text and no line is the same in English, unless it is a name or an address."""
    vacancy, found = make_vacancy(title=MARK, location=MARK), {}
    for language, place in (("en", ""), ("nl", "/nl")):
        alert = make_alert("filter%5Bsearch%5D=zyx&filter%5Bnear%5D=51,4,9", language=language)
        path = f"{place}/alerts/{alert_token(alert)}"
        pages = [Client().get(f"{path}?saved"), Client().get(f"{path}/unsubscribe")]
        mail = NewsEmails(at=NOW).email(alert, [vacancy], 2)
        emails = [mail, queue_confirmation(alert, at=NOW), queue_renewal(alert, at=NOW)]
        alert.confirmed_at = None
        alert.save()
        pages += [
            sign_up("filter[search]=zyx", "x", page=f"{place}/alerts", frequency="x"),
            sign_up(page=f"{place}/alerts", contact_me_by_fax="x"),
            Client().get(f"{place}/alerts/sent"),
            Client().get(path, follow=True),
            Client().post(f"{path}/unsubscribe"),
        ]
        lines = [
            *(each.subject for each in emails),
            *(x for each in emails for x in each.body.splitlines()),
        ]
        found[language] = (
            pages,
            {line for line in lines if not re.search(f"https?://|^$|{MARK}", line)},
        )
    for page, english in zip(found["nl"][0], found["en"][0], strict=True):
        assert leftovers(page, english, "nl") == set()
    assert (found["nl"][1] & found["en"][1], len(found["nl"][1])) == (set(), len(found["en"][1]))


# --- What is told ---------------------------------------------------------------------------------


def test_alert_tells_new_public_vacancies_once():
    make_alert("filter%5Bregions%5D=ghent&filter%5Bsearch%5D=nurse")
    ghent = {"options": {"regions": ["Ghent"]}}
    match = make_vacancy(
        title="Nurse", location="Ghent", publish_from=NOW - timedelta(hours=2), **ghent
    )
    make_vacancy(title="Head nurse", **ghent)
    make_vacancy(title="Nurse in Bruges")
    make_vacancy(title="Clerk", **ghent)
    make_vacancy(title="Internal nurse", audience="internal", **ghent)
    make_vacancy(title="Nurse, draft", status="draft", **ghent)
    make_vacancy(title="Nurse, later", publish_from=NOW + DAY, **ghent)
    make_vacancy(title="Nurse, closed", publish_until=NOW - timedelta(minutes=1), **ghent)
    make_vacancy(title="Nurse, old", publish_from=NOW - 9 * DAY, **ghent)
    Requisition.objects.create(
        vacancy=make_vacancy(title="Nurse, any", **ghent), is_for_open_applications=True
    )

    job = JobAlerts()
    morning(NOW.replace(hour=5, minute=59), job)
    assert told() == {}
    morning(NOW, job)
    assert told() == {MAIL: [["Head nurse", "Nurse"]]}
    morning(NOW, JobAlerts())  # another process
    morning(NOW + DAY, job)
    assert told() == {MAIL: [["Head nurse", "Nurse"], ["Nurse, later"]]}
    message = Message.objects.earliest("pk")
    assert message.subject == "2 new vacancies: nurse, Ghent"
    assert (
        f"\nNurse\nAcme, Ghent\nhttps://jobs.example.org/jobs/{match.pk}-nurse?source=alert\n"
        in message.body
    )
    query = "filter%5Bregions%5D=ghent&filter%5Bsearch%5D=nurse&sort=-published_at"
    listed = f"https://jobs.example.org/jobs?{query}"
    assert listed in message.body.splitlines()


def test_alert_shows_twenty_vacancies_and_tells_how_many_there_are(monkeypatch):
    monkeypatch.setattr("applications.alerts.job.VACANCIES_MAX", 3)
    for frequency in ("daily", "weekly"):
        alert = make_alert(frequency=frequency, told_at=NOW - 7 * DAY)
        for n in range(5):
            make_vacancy(title=f"V{n}", publish_from=NOW - timedelta(minutes=n))
        for day in (0, 1, 2, 7, 14):
            morning(NOW + day * DAY)
        assert told() == {MAIL: [["V0", "V1", "V2"]]}, frequency
        message = Message.objects.get(kind="alert")
        assert message.subject == "5 new vacancies"
        assert "\n5 new vacancies match your job alert. These are the 3 newest:\n" in message.body
        assert ">2 more new vacancies</a>" in message.html
        assert alert.told.count() == 5
        alert.delete()
        Vacancy.objects.all().delete()


def test_html_of_an_alert_says_what_its_text_says(settings):
    """Nothing of a recruiter is markup, no image is loaded, and the links are those of the text."""
    settings.SITE_COLOR = "#ffe08a"  # black text
    BrandLink.objects.create(kind="imprint", language="nl", url="https://example.org/impressum")
    alert = make_alert(language="nl")
    vacancy = make_vacancy(title='<b onclick="x">R&D</b>', location="<i>Ghent", language="en")
    morning()
    email = as_email(Message.objects.get(kind="alert"))
    parts = [part for part in email.message().walk() if not part.is_multipart()]
    assert [part.get_content_type() for part in parts] == ["text/plain", "text/html"]
    html = email.alternatives[0][0]
    links = {each.replace("&amp;", "&") for each in re.findall(r'href="([^"]+)"', html)}
    assert links == set(re.findall(r"https://\S+", email.body))
    # In the reader's language.
    assert f"https://jobs.example.org/nl{vacancy.site_path}?source=alert" in links
    assert f"https://jobs.example.org/nl/alerts/{alert_token(alert)}/unsubscribe" in links
    assert re.findall("<(?:b|i|img|script|link)[ >]", html) == []
    assert "color: #000000" in html


def test_weekly_alerts_are_told_on_mondays_or_as_soon_as_possible():
    assert NOW.weekday() == 0
    make_alert(frequency="weekly", told_at=NOW - timedelta(hours=20))
    make_vacancy(title="First")
    morning(NOW + 0 * DAY)
    make_vacancy(title="Second", publish_from=NOW + DAY)
    morning(NOW + 2 * DAY)
    morning(NOW + 6 * DAY)
    assert told() == {MAIL: [["First"]]}
    morning(NOW + 8 * DAY)  # the dispatcher was stopped on Monday
    assert told() == {MAIL: [["First"], ["Second"]]}


def test_alert_of_a_brand_tells_its_vacancies_in_its_name(settings):
    settings.DEFAULT_FROM_EMAIL = "jobs@example.org"
    acme = make_brand("Acme", host="jobs.acme.example")
    BrandMail.objects.create(brand=acme, sender_name="Acme HR", signature_nl="Groeten van Acme")
    sign_up("filter[brand]=acme", page="/nl/alerts")
    alert = JobAlert.objects.get()
    assert (alert.query, alert.brand, alert.language) == ("", acme, "nl")
    operations.confirm(alert, at=NOW - DAY)
    own = make_vacancy(title="Own", brand=acme, location="Ghent")
    make_vacancy(title="Other", brand=make_brand("Other"))
    morning()

    email = as_email(Message.objects.get(kind="alert"))
    site = f"https://jobs.acme.example/nl/alerts/{alert_token(alert)}"
    assert told() == {MAIL: [["Own"]]}
    assert email.from_email == '"Acme HR" <jobs@example.org>'
    assert f"https://jobs.acme.example/nl/jobs/{own.pk}-own?source=alert" in email.body
    assert email.body.endswith(f"\n{site}/unsubscribe\n\nGroeten van Acme")
    assert email.extra_headers["List-Unsubscribe"] == f"<{site}/unsubscribe>"

    settings.ALLOWED_HOSTS = ["*"]
    Client(HTTP_HOST="jobs.acme.example").post(
        PAGE, {"address": "b@example.org", "frequency": "daily"}
    )
    assert JobAlert.objects.get(address="b@example.org").brand == acme


def test_one_query_for_equal_alerts_and_few_for_others(django_assert_max_num_queries, monkeypatch):
    make_vacancy(title="Nurse")
    for n in range(6):
        make_alert("filter%5Bsearch%5D=nurse", address=f"a{n}@example.org")
    with django_assert_max_num_queries(25):
        morning()
    assert len(told()) == 6


def test_vacancy_is_not_told_twice_by_two_processes():
    alert = make_alert()
    vacancy = make_vacancy()
    morning()
    JobAlert.objects.update(told_at=NOW - DAY)  # as it was read by a process that lost its lock
    with pytest.raises(IntegrityError), transaction.atomic():
        ToldVacancy.objects.create(alert=alert, vacancy=vacancy)
    morning(job=JobAlerts())
    assert len(told()[MAIL]) == 1


def test_other_emails_are_sent_before_alerts():
    make_alert()
    make_vacancy()
    morning(NOW)
    Message.objects.update(queued_at=NOW - DAY, next_at=NOW - DAY)
    sign_up("filter[search]=later")
    assert MailDelivery().next_due(NOW).kind == "alert_confirmation"
    Message.objects.filter(kind="alert_confirmation").delete()
    assert MailDelivery().next_due(NOW).kind == "alert"


# --- Change and end -------------------------------------------------------------------------------


def test_frequency_is_changed_on_the_page_of_the_alert():
    alert, same = make_alert(), make_alert(frequency="weekly")
    path = f"/alerts/{alert_token(alert)}"
    assert Client().get(path).context["alert"] == alert
    assert Client().post(path, {"frequency": "weekly"}).headers["Location"] == f"{path}?saved"
    assert list(JobAlert.objects.values_list("pk", "frequency")) == [(alert.pk, "weekly")]
    assert Client().post(path, {"frequency": "x"}).status_code == 422
    assert Client().get(f"/alerts/{alert_token(same)}").status_code == 404


def test_unsubscribing_deletes_the_alert_and_its_emails():
    alert, vacancy = make_alert(), make_vacancy()
    morning()
    token = alert_token(alert)
    path = f"/alerts/{token}/unsubscribe"
    email = as_email(Message.objects.get())
    # Python encodes long words in some headers.
    sent = message_from_bytes(email.message().as_bytes())
    assert sent["List-Unsubscribe"].strip() == f"<https://jobs.example.org{path}>"
    assert sent["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"

    assert Client().get(path).context["alert"] == alert
    client = Client(enforce_csrf_checks=True)
    for _ in range(2):
        answer = client.post(path, {"List-Unsubscribe": "One-Click"})
        assert (answer.status_code, answer.templates[0].name) == (
            200,
            "site/alerts/alert_ended.html",
        )
    rows = (JobAlert.objects.count(), Message.objects.count(), ToldVacancy.objects.count())
    assert (rows, vacancy.pk) == ((0, 0, 0), vacancy.pk)
    assert Client().get(path).status_code == 200
    statuses = [
        Client().get(each).status_code for each in (f"/alerts/{token}", f"/alerts/confirm/{token}")
    ]
    assert statuses == [404, 404]
    assert Client().get(f"/alerts/{token}x").status_code == 404

    # a restore brings it back
    JobAlert.objects.bulk_create([alert, make_alert("filter%5Bsearch%5D=x")][:1])
    assert Erasure.objects.count() == 1
    counts = erase_again()
    assert counts is not None
    assert (counts["job_alerts"], JobAlert.objects.count()) == (1, 1)


def test_old_alert_asks_to_be_confirmed_again():
    alert = make_alert(ends_at=NOW)
    make_vacancy(title="Last")
    morning()
    alert.refresh_from_db()
    assert told() == {MAIL: [["Last"]]}
    assert (alert.confirmed_at, alert.ends_at) == (None, NOW + 30 * DAY)
    assert Message.objects.last().subject == "Do you still want this job alert?"
    make_vacancy(publish_from=NOW + DAY)
    morning(NOW + 2 * DAY)
    assert len(told()[MAIL]) == 1

    operations.confirm(alert, at=NOW + 3 * DAY)
    alert.refresh_from_db()
    assert (alert.confirmed_at, alert.ends_at) == (NOW + 3 * DAY, NOW + 368 * DAY)
    morning(NOW + 4 * DAY)
    assert len(told()[MAIL]) == 2


def test_addresses_do_not_stay_after_the_career_site_was_switched_off(settings):
    settings.CAREER_SITE = False
    make_alert(ends_at=NOW - 31 * DAY)
    kept = make_alert("filter%5Bsearch%5D=x", ends_at=NOW - 29 * DAY)
    morning()
    run("purge")
    assert JobAlert.objects.get() == kept


def test_unconfirmed_alerts_and_old_emails_are_purged(time_machine):
    for n, ends_at in enumerate((NOW + DAY, NOW - DAY)):
        make_alert(f"filter%5Bsearch%5D=x{n}", confirmed_at=None, ends_at=ends_at)
    make_alert(ends_at=NOW - DAY)
    make_vacancy()
    morning()
    Message.objects.update(state="sent", finished_at=NOW)
    run("purge")
    assert JobAlert.objects.count() == 2
    time_machine.move_to(NOW + 8 * DAY, tick=False)
    run("purge")
    assert (Message.objects.count(), ToldVacancy.objects.count()) == (0, 1)
    time_machine.move_to(NOW + 80 * DAY, tick=False)
    run("purge")
    assert ToldVacancy.objects.count() == 0
    assert JobAlert.objects.count() == 0


# --- values of options ---


def test_alerts_follow_merged_options_and_tell_nothing_twice():
    old, new, _ = (make_option("regions", label) for label in ("Gent", "Ghent", "Bruges"))
    seen, unseen = (
        make_vacancy(title=t, options={"regions": ["Gent"]}) for t in ("Seen", "Unseen")
    )
    only, both = (
        make_alert(f"{REGIONS}gent", address="a@x.test"),
        make_alert(f"{REGIONS}bruges%2Cgent"),
    )
    first = make_alert(f"{REGIONS}gent", confirmed_at=None)  # equal to the next one after the merge
    second = make_alert(f"{REGIONS}ghent", told_at=NOW - 2 * DAY)
    words = make_alert("filter%5Bsearch%5D=gent")
    for alert in (first, second):
        ToldVacancy.objects.create(alert=alert, vacancy=seen)
    waiting = Message.objects.create(alert=first, kind="alert", subject="S", body="B")

    merge_options(into=new, others=[old])

    found = dict(JobAlert.objects.values_list("pk", "query"))
    assert found == {
        only.pk: f"{REGIONS}ghent",
        both.pk: f"{REGIONS}bruges%2Cghent",
        second.pk: f"{REGIONS}ghent",
        words.pk: "filter%5Bsearch%5D=gent",
    }
    waiting.refresh_from_db()
    assert (waiting.alert, list(second.told.values_list("vacancy", flat=True))) == (
        second,
        [seen.pk],
    )
    news, _starts = matching([(f"{REGIONS}ghent", None)], since=NOW - 9 * DAY, at=NOW)
    assert set(news[f"{REGIONS}ghent", None]) == {seen.pk, unseen.pk}


def test_alerts_follow_renamed_values(admin_client):
    option = make_option("regions", "Ghent")
    alert = make_alert(f"filter%5Bbrand%5D=acme%2Cother&{REGIONS}ghent")
    page = f"/admin/vacancies/filteroption/{option.pk}/change/"
    form = {
        "label": "Ghent",
        "value": "gent",
        "employment_type": "",
        "position": 0,
        "is_active": "on",
    }
    admin_client.post(page, form)
    brand = make_brand(slug="acme")
    admin_client.post(
        f"/admin/vacancies/brand/{brand.pk}/change/", {"name": "Acme", "slug": "acme-nv"}
    )
    alert.refresh_from_db()
    assert alert.query == f"filter%5Bbrand%5D=acme-nv%2Cother&{REGIONS}gent"

"""The page that adds an application: what is stored, the notice, likely duplicates, refusals."""

import re
from hashlib import sha256
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from applications.models import AccessLog, Application, Message, Note, Origin, SubmissionFile
from applications.privacy import export
from jobsite import private_files
from tests.applications.admin.conftest import FOREIGN, staff
from tests.applications.makers import make_file, make_submission
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db
ADD = "/admin/applications/application/add/"
PDF = b"%PDF-1.7 a CV"


def cv(name: str = "cv.pdf", content: bytes = PDF) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def sent(office: Any, **values: Any) -> dict[str, Any]:
    """What the page sends. The key is the same for the same values."""
    return {
        "key": sha256(str(values).encode()).hexdigest(),
        "vacancy": office.own.vacancy_id,
        "given_name": "Zoë",
        "family_name": "Peeters",
        "email": "Zoe@Example.org",
        "phone": "+32 470 12 34 56",
        "language": "nl",
        "channel": "email",
        "received_on": str(timezone.localdate()),
        "basis": "",
        "note": "",
    } | values


def hidden(page: Any) -> dict[str, Any]:
    """The hidden fields of the page, and the files that it keeps."""
    html = page.content.decode()
    found = {name: re.search(f'name="{name}" value="([^"]*)"', html) for name in ("key", "seen")}
    return {name: each[1] for name, each in found.items() if each} | {
        "kept": re.findall('name="kept" value="([^"]*)"', html)
    }


def added() -> Application:
    return Application.objects.order_by("-pk").first()  # type: ignore[return-value]


def test_application_with_files_and_a_note_is_added(office, at):
    page = office.anna.post(
        ADD, sent(office, uploads=[cv(), cv("b.txt", b"text")], note="Called @anna")
    )
    new = added()
    assert page.url == f"/admin/applications/application/{new.pk}/change/"
    assert (new.given_name, new.email, new.email_folded) == (
        "Zoë",
        "Zoe@Example.org",
        "zoe@example.org",
    )
    assert (new.user, new.verified_at, new.is_repeated, new.language) == (None, None, False, "nl")
    assert new.read_at == new.created_at == timezone.now()
    assert re.fullmatch("[0-9A-Z]{8}", new.reference or "")
    assert new.changes.get().stage == office.new
    assert (new.origin.channel, new.origin.basis, new.origin.author.username) == (
        "email",
        "request",
        "anna",
    )
    assert (new.submission.source, new.submission.consent_text) == ("email", "")
    files = [(f.field, f.original_name, f.kind) for f in new.submission.files.all()]
    assert files == [("file_1", "cv.pdf", "pdf"), ("file_2", "b.txt", "txt")]
    assert Note.objects.get(application=new).text == "Called @anna"
    assert AccessLog.objects.filter(application=new.pk, action="change").count() == 1

    shown = office.anna.get(page.url).content.decode()
    assert "The applicant applied." in shown
    assert "Added by anna." in shown
    assert "<dt>Bestand 1</dt>" in shown  # in the language of the applicant
    assert "Version 0" not in shown


def test_notice_says_what_is_stored_and_no_values(office, at):
    office.anna.post(ADD, sent(office, language="en", channel="linkedin", uploads=[cv()]))
    new = added()
    notice = Message.objects.get(application=new)
    assert (notice.kind, notice.to, notice.author) == ("notice", "Zoe@Example.org", None)
    assert new.origin.informed_at == at
    assert new.origin.basis == Origin.Basis.INTEREST
    text = notice.text
    assert "Source: LinkedIn" in text
    assert "/account/receipt/personal-link/delete" in text
    for value in ("Zoë", "Peeters", "470", "cv.pdf", "anna"):
        assert value not in notice.subject + text


def test_application_without_an_address_gets_no_notice(office):
    office.anna.post(ADD, sent(office, email="", channel="phone"))
    assert (added().origin.informed_at, Message.objects.filter(application=added()).count()) == (
        None,
        0,
    )


def test_earlier_day_is_received_then_and_kept_from_now(office, at):
    office.anna.post(ADD, sent(office, received_on="2026-01-05"))
    new = added()
    assert timezone.localtime(new.created_at).isoformat() == "2026-01-05T12:00:00+00:00"
    assert new.updated_at == at


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"given_name": "", "family_name": "", "email": ""}, "Enter a name or an e-mail address."),
        ({"email": "zoe@"}, "Enter a valid email address."),
        ({"received_on": "2999-01-01"}, "Enter a date from"),
        ({"received_on": "2020-01-01"}, "Enter a date from"),
        ({"channel": "open"}, "is not one of the available choices"),
        ({"vacancy": "x"}, "There is no such vacancy, or it is archived."),
        (
            {"uploads": [cv("run.exe", b"MZ")]},
            "run.exe: This is a file in the format EXE: save it as PDF.",
        ),
        ({"uploads": [cv("empty.pdf", b"")]}, "empty.pdf: This file is empty: choose it again."),
        ({"uploads": [cv(f"{n}.pdf") for n in range(6)]}, "At most 5 files."),
        (
            {"uploads": [cv(content=PDF + bytes(10_485_000)) for _n in range(3)]},
            "more than 20 MB together",
        ),
        (
            {"uploads": [cv("large.pdf", PDF + bytes(10_485_760))]},
            "large.pdf: This file is larger than 10 MB.",
        ),
        ({"kept": "forged"}, "A file was sent too long ago. Choose it again."),
        ({"note": "x" * 10_001}, "at most 10000 characters"),
    ],
)
def test_wrong_value_is_refused_with_its_reason(office, values, text):
    before = Application.objects.count()
    page = office.anna.post(ADD, sent(office, **values))
    assert (page.status_code, Application.objects.count()) == (422, before)
    assert text in page.content.decode()


def test_archived_and_foreign_vacancies_are_refused(office):
    Vacancy.objects.filter(pk=office.own.vacancy_id).update(status="archived")
    for pk in (office.own.vacancy_id, office.foreign.vacancy_id):
        page = office.anna.post(ADD, sent(office, vacancy=pk))
        assert "There is no such vacancy, or it is archived." in page.content.decode()
        assert FOREIGN not in page.content.decode()
    assert (
        FOREIGN
        not in office.anna.get(f"{ADD}?vacancy={office.foreign.vacancy_id}").content.decode()
    )


@pytest.mark.slow("opens several pages of the admin")
def test_only_whoever_may_add_sees_the_page_and_its_buttons(office):
    auditor = staff("audit", "Auditor")
    assert auditor.get(ADD).status_code == 403
    assert auditor.post(ADD, sent(office)).status_code == 403
    vacancy = office.own.vacancy_id
    pages = {
        "/admin/applications/application/": "",
        f"/admin/applications/application/?vacancy__id__exact={vacancy}": f"?vacancy={vacancy}",
        f"/admin/applications/application/board/?vacancy__id__exact={vacancy}": f"?vacancy={vacancy}",
        f"/admin/vacancies/vacancy/{vacancy}/change/": f"?vacancy={vacancy}",
    }
    for url, query in pages.items():
        assert f'href="{ADD}{query}"' in office.anna.get(url).content.decode(), url
        assert ADD not in auditor.get(url).content.decode(), url


def test_likely_duplicates_are_shown_before_it_saves(office, settings):
    """With the files that were sent: they are not sent a second time."""
    same = make_submission(office.own, {})
    make_file(same, content=PDF)
    make_file(make_submission(office.foreign, {}), content=PDF)
    before = Application.objects.count()
    page = office.anna.post(ADD, sent(office, email="MIA@example.org", uploads=[cv("again.pdf")]))
    html = page.content.decode()
    assert (page.status_code, Application.objects.count()) == (200, before)
    assert "same e-mail address, same file" in html
    assert FOREIGN not in html
    assert "again.pdf" in html

    office.anna.post(ADD, sent(office, email="MIA@example.org") | hidden(page))
    assert Application.objects.count() == before + 1
    assert added().is_repeated
    assert [f.original_name for f in added().submission.files.all()] == ["again.pdf"]


def test_same_name_is_shown_and_a_common_file_is_not(office):
    Application.objects.filter(pk=office.own.pk).update(family_name="PEETERS", given_name="Zoë")
    vacancy = office.own.vacancy
    page = office.anna.post(ADD, sent(office))
    assert "same name" in page.content.decode()
    for _n in range(6):
        office.anna.post(
            ADD,
            sent(
                office,
                key=f"{_n}",
                given_name="",
                family_name=f"N{_n}",
                email="",
                phone="",
                uploads=[cv()],
            )
            | {
                "seen": ",".join(
                    str(pk)
                    for pk in Application.objects.exclude(pk__lte=office.foreign.pk)
                    .order_by("-created_at", "-pk")
                    .values_list("pk", flat=True)
                )
            },
        )
    assert vacancy.applications.count() == 7
    page = office.anna.post(
        ADD, sent(office, key="last", family_name="Last", given_name="", email="", uploads=[cv()])
    )
    assert page.status_code == 302


def test_two_clicks_add_one_application(office):
    before = Application.objects.count()
    first, second = (office.anna.post(ADD, sent(office, uploads=[cv()])) for _click in range(2))
    assert first.url == second.url
    assert Application.objects.count() == before + 1
    assert Message.objects.filter(kind="notice").count() == 1


def test_page_that_was_saved_with_other_content_asks_again(office):
    other = {"family_name": "Other", "email": "other@example.org", "phone": ""}
    office.anna.post(ADD, sent(office, key="k"))
    page = office.anna.post(ADD, sent(office, key="k", **other))
    assert "This page was saved already, with other content." in page.content.decode()
    assert office.anna.post(ADD, sent(office, **other) | hidden(page)).status_code == 302


def test_next_one_has_the_same_vacancy_channel_and_day(office):
    page = office.anna.post(ADD, sent(office, channel="fair", received_on="2026-01-05", _next=""))
    html = office.anna.get(page.url).content.decode()
    vacancy = office.own.vacancy_id
    assert page.url == f"{ADD}?vacancy={vacancy}&channel=fair&received_on=2026-01-05"
    assert re.search(f'<option value="{vacancy}"[^>]* selected', html)
    assert re.search('<option value="fair" selected', html)
    assert 'value="2026-01-05"' in html


def test_kept_file_belongs_to_its_user_and_can_be_dropped(office):
    page = office.anna.post(ADD, sent(office, email="x@", uploads=[cv()]))
    kept = hidden(page)["kept"]
    other = staff("ben", brands=[office.brand])
    assert "sent too long ago" in other.post(ADD, sent(office, kept=kept)).content.decode()
    for path in [each.name for each in private_files.stored()]:
        private_files.delete([path])
    assert (
        "cv.pdf is no longer there"
        in office.anna.post(ADD, sent(office, kept=kept)).content.decode()
    )
    office.anna.post(ADD, sent(office))
    assert not SubmissionFile.objects.exists()


def test_origin_is_exported_for_the_recruiter_only(office):
    office.anna.post(ADD, sent(office, channel="agency"))
    own, whole = (
        export(address="zoe@example.org", now=timezone.now(), is_own=each)["applications"][0]
        for each in (True, False)
    )
    assert "origin" not in own
    assert whole["origin"]["channel"] == "agency"

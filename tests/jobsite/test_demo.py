"""`manage.py demo`: the command, and what it does not change."""

import json
import re
import socket
from datetime import UTC, datetime
from functools import cache
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command

from applications.mail.smtp import Transport
from jobsite.demo import content
from jobsite.demo import mail as demo_mail
from jobsite.management.commands import demo
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db

AT = datetime(2031, 3, 5, 14, 7, 33, tzinfo=UTC)
# Seconds to draw.
DRAWINGS = {name: cache(getattr(content, name)) for name in ("icon", "avatar", "header")}


@pytest.fixture(autouse=True)
def _drawn_once(monkeypatch):
    for name, draw in DRAWINGS.items():
        monkeypatch.setattr(content, name, draw)


@pytest.fixture
def printed(settings):
    """The output of a first run of the command."""
    settings.DEBUG = settings.APPLY_PAGES = settings.CAREER_SITE = True
    return run()


def run(errors=None):
    out = StringIO()
    call_command("demo", no_serve=True, stdout=out, stderr=errors or StringIO())
    return out.getvalue()


def test_each_phase_is_printed(settings, monkeypatch):
    settings.DEBUG = True
    for name in ("load", "load_applications"):
        monkeypatch.setattr(content, name, lambda **values: {})
    monkeypatch.setattr(demo, "load_submissions", lambda **values: 0)
    monkeypatch.setattr(demo, "call_command", lambda *words, **options: None)
    run(errors := StringIO())
    assert errors.getvalue().splitlines() == [
        "Compiling the translations, and creating the tables ...",
        "Creating brands, forms, pictures and vacancies ...",
        "Creating accounts, applications and submissions ...",
        "Counting for the start page and the reports ...",
    ]


def test_files_are_the_same():
    for draw in (
        lambda: DRAWINGS["icon"].__wrapped__("AB", "#0f766e", 64),
        lambda: DRAWINGS["avatar"].__wrapped__("#0f766e"),
        lambda: DRAWINGS["header"].__wrapped__("river", "#0f766e"),
        lambda: content.page(["Title", "line"], AT),
    ):
        assert draw().read() == draw().read()


@pytest.mark.slow("fills the demo twice")
def test_printed_links_and_accounts_work_and_a_second_run_keeps_passwords(printed, client):
    links = re.findall(r"^  \S.*: +http://127\.0\.0\.1:8000(/\S+)$", printed, re.MULTILINE)
    curls = re.findall(r"^  curl -gs 'http://127\.0\.0\.1:8000(/\S+)'$", printed, re.MULTILINE)
    assert (len(links), len(curls), links[0]) == (12, 3, "/jobs")
    assert [path for path in links if client.get(path, follow=True).status_code != 200] == []
    assert all(client.get(path).json()["data"] for path in curls)

    names = re.findall(r"^  (\w+) / \1 ", printed, re.MULTILINE)
    assert names == ["admin", "editor", "recruiter", "applicant", "employee"]
    assert [name for name in names if User.objects.get(username=name).check_password(name)] == names
    recruiter, employee = (User.objects.get(username=name) for name in ("recruiter", "employee"))
    assert (recruiter.is_staff, recruiter.is_superuser) == (True, False)
    assert [group.name for group in recruiter.groups.all()] == ["Recruiter"]
    assert (employee.is_staff, employee.get_all_permissions()) == (
        False,
        {"vacancies.see_internal"},
    )

    recruiter.set_password("something else")
    recruiter.save()
    again = run()
    assert again.startswith("The demo content exists already; nothing was changed.")
    assert again.count("(existing account, password not changed)") == 5
    recruiter.refresh_from_db()
    assert recruiter.check_password("something else")


@pytest.mark.slow("creates the content of the demo")
def test_emails_are_collected_in_a_file_whose_path_is_printed(printed, settings, tmp_path):
    path = settings.BASE_DIR / "demo-emails.txt"
    assert (
        f"Emails: they are collected in {path}. Set EMAIL_URL to send them." in printed.splitlines()
    )

    settings.BASE_DIR = tmp_path
    settings.EMAIL_BACKEND = settings.EMAIL_BACKEND  # restored after the test
    demo_mail.collect()
    for number in range(2):
        Transport().send(
            EmailMessage(f"Subject {number}", "Text", "jobs@example.org", ["mia@example.org"])
        )

    text = (tmp_path / "demo-emails.txt").read_text()
    assert re.findall("^Subject: (.*)$", text, re.MULTILINE) == ["Subject 0", "Subject 1"]


def test_command_refuses_before_anything_is_created(settings):
    settings.DEBUG = False
    with pytest.raises(
        CommandError, match=r"^The demo needs DEBUG on: its passwords are public\.$"
    ):
        run()
    settings.DEBUG = True
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(CommandError, match=rf"^Port {number} is not available \("):
            call_command("demo", port=number)
    for text in ("0", "65536", "-1", "80x", "²", ""):
        with pytest.raises(CommandError, match="argument --port"):
            call_command("demo", f"--port={text}")
    assert not User.objects.exists()
    assert not Vacancy.objects.exists()


def test_pay_in_the_texts_of_the_demo_is_that_of_the_facts():
    other = {1500, 8}  # euros for a desk, and of a voucher
    wrong = []
    for row in json.loads(content.CONTENT.read_text())["vacancies"]:
        found = re.findall(
            r"€ ?(\d[\d,.]*\d|\d)|(\d[\d \u00a0,]*\d|\d)[ \u00a0]€", row.get("offer", "")
        )
        amounts = {
            one.replace(",", "") or re.sub("[ \u00a0]", "", two).replace(",", ".")
            for one, two in found
        }
        stated = {float(row[name]) for name in ("pay_min", "pay_max") if name in row}
        wrong += [(row["title"], each) for each in amounts if float(each) not in stated | other]
    assert wrong == []

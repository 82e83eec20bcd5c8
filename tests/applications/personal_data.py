"""Personal data of an applicant in every table, and searches for it."""

import json
from datetime import timedelta
from io import StringIO

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from applications.mail.outbox import Email, queue
from applications.models import (
    AccessLog,
    ApplicationTag,
    ConsentRequest,
    JobAlert,
    Message,
    MessageFile,
    Origin,
    Participant,
    Scorecard,
    StageChange,
    Tag,
    Token,
    ToldVacancy,
    VacancyChange,
)
from applications.querysets import folded_address
from tests.applications.makers import (
    MINE,
    bearer,
    make_application,
    make_stage,
    make_step,
    make_token,
    make_user,
    signed_in,
)
from tests.factories import make_vacancy

NAME, MAIL = "zyxjane", "zyxmail@example.org"
FIRST, LAST = "Zyxélise", "Zyxpeeters"


def run(*args):
    """Run a command. Return (exit code, stdout, stderr)."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*map(str, args), stdout=out, stderr=err)
    except SystemExit as error:
        return error.code, out.getvalue(), err.getvalue()
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), err.getvalue()


def dump():
    """Return every value of every table as text."""
    tables = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            tables[table] = [[str(value) for value in row] for row in cursor.fetchall()]
    return tables


def tables_containing(marker):
    """Return the tables that contain `marker`, in any case and JSON escaping."""
    forms = {marker.casefold(), json.dumps(marker)[1:-1].casefold()}
    return {
        table
        for table, rows in dump().items()
        if any(form in value.casefold() for row in rows for value in row for form in forms)
    }


def log(user, row, message="", text=None):
    return LogEntry.objects.create(
        user=user,
        content_type=ContentType.objects.get_for_model(row),
        object_id=str(row.pk),
        object_repr=(text or str(row))[:200],
        action_flag=CHANGE,
        change_message=message,
    )


def make_job_alert(address, vacancy):
    """Create a job alert that told of `vacancy`."""
    at = timezone.now()
    alert = JobAlert.objects.create(
        address=address,
        address_folded=folded_address(address),
        language="en",
        frequency="daily",
        query=f"filter%5Bsearch%5D=of-{address}",
        confirmed_at=at,
        ends_at=at + timedelta(days=300),
    )
    ToldVacancy.objects.create(alert=alert, vacancy=vacancy)
    queue(
        Email(
            kind=Message.Kind.ALERT,
            alert=alert,
            to=address,
            language="en",
            subject=f"New: {alert.query}",
            body=f"To {address}",
        ),
        at=at,
    )
    return alert


def make_personal_data(name, mail, first, last, recruiter):
    """Create rows of every kind for an applicant. Return the values that identify them."""
    user = make_user(name, email=mail, first_name=first, last_name=last)
    vacancy = make_vacancy()
    for n in range(2):
        application = make_application(
            user=user, vacancy=vacancy, created_at=timezone.now() - timedelta(hours=n)
        )
        Origin.objects.create(
            application=application,
            channel="agency",
            basis="interest",
            informed_at=timezone.now(),
            author=recruiter,
        )
        ConsentRequest.objects.create(
            application=application,
            purpose="pool",
            text="Agreed?",
            version=1,
            due_on=timezone.localdate(),
        )
        tag = Tag.objects.create(name=f"seen {application.pk}", folded=f"seen {application.pk}")
        ApplicationTag.objects.create(application=application, tag=tag)
        step = make_step(
            application,
            f"Talk with {first}",
            result=f"{last} was good",
            uid=f"{application.pk:032}",
            zone="UTC",
            ends_at=timezone.now() + timedelta(days=1),
            place=first,
            details=last,
        )
        Participant.objects.create(entry=step, address=mail)
        StageChange.objects.create(application=application, stage=make_stage(), author=recruiter)
        VacancyChange.objects.create(application=application, before=vacancy, author=recruiter)
        card = Scorecard.objects.create(
            application=application,
            author=recruiter,
            text=f"{first} {last}",
            recommendation=3,
            entry=step,
        )
        log(recruiter, card, text=f"card of {name}")
        AccessLog.objects.create(actor=recruiter, application=application.pk, action="view")
        log(recruiter, step)
        email = Message.objects.create(
            application=application, kind="template", to=mail, language="en", subject=first
        )
        MessageFile.objects.create(
            message=email, original_name=f"{last}.pdf", path=f"{application.pk:032}", size=1
        )
        log(
            recruiter,
            application,
            message=json.dumps([{"added": {"name": "step", "object": str(step)}}]),
        )
    log(recruiter, user, message=json.dumps([{"changed": {"fields": ["Email"]}}]))
    log(
        recruiter,
        vacancy,
        message=json.dumps([{"added": {"name": "file", "object": f"for {first} {last} «{name}»"}}]),
    )
    log(recruiter, vacancy, text=f"Job of {mail.upper()}", message=f"Talked to {name}.")
    log(user, vacancy)
    token = make_token(user)
    log(recruiter, Token.objects.get(user=user))
    client = signed_in(user)
    for kwargs in ({}, {"headers": bearer(token)}):
        assert len(client.get(MINE, **kwargs).json()["data"]) == 2
    for typed in (name, mail, name.upper()):
        Client().post(
            "/v1/auth/token", {"username": typed, "password": "x"}, content_type="application/json"
        )
        Client().post(f"/admin/login/?next=/{typed}", {"username": typed, "password": "x"})
    return [name, mail, first, last, token[:15], token, client.cookies["sessionid"].value]

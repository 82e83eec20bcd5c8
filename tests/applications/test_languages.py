"""Every page and email about applications is translated: compared in Dutch, because other tests
check that the catalogs are complete. See tests/vacancies/test_languages.py.
"""

import re
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import URLPattern, URLResolver
from django.utils import translation

from applications.mail.digest import queue_digest
from applications.mail.mentions import queue_mentions
from applications.mail.outbox import Email, queue
from applications.mail.receipt import queue_receipt, queue_withdrawal
from applications.models import (
    Access,
    AccessLog,
    Application,
    MailTemplate,
    Message,
    Note,
    Stage,
    Status,
    Token,
)
from applications.submissions.links import receipt_path
from applications.urls import urlpatterns
from forms_structure import operations as forms
from jobsite.admin.users import permission_label
from tests.applications.makers import (
    make_file,
    make_stage,
    make_step,
    make_submission,
    make_token,
    make_user,
)
from tests.factories import make_brand, make_vacancy
from tests.forms_structure.strategies import section, text_field
from tests.vacancies.test_languages import LANGUAGES, MARK, in_both, is_page, leftovers

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
LANGUAGE = "nl"
PLACE = "/admin/applications/"
LIST = f"{PLACE}application/"
ADDRESS = f"{MARK}@example.org"
SECTIONS = [
    {
        "title": f"{MARK} section",
        "description": None,
        "fields": [
            {"name": "name", "type": "text", "label": f"{MARK} name", "required": True},
            {"name": "empty", "type": "text", "label": f"{MARK} empty", "required": False},
            {"name": "cv", "type": "file", "label": f"{MARK} file", "required": False},
        ],
    }
]


def make(**columns: Any) -> Application:
    at = columns.pop("at")
    stage = columns.pop("stage")
    defaults = {
        "reference": f"{MARK}{Application.objects.count()}",
        "given_name": MARK,
        "family_name": "Maes",
        "email": ADDRESS,
        "email_folded": ADDRESS,
        "language": "de",
        "created_at": at,
        "updated_at": at,
        "vacancy": columns.get("vacancy")
        or make_vacancy(title=f"{MARK} vacancy", brand=make_brand(f"{MARK} brand")),
        "phone": "0470 12 34 56",
    }
    application = Application.objects.create(**defaults | columns)
    application.changes.create(stage=stage, at=at)
    values = {"name": MARK, "cv": "zyx.pdf", f"{MARK}other": "1"}
    submission = make_submission(application, values, SECTIONS, consent_text=MARK, source=MARK)
    make_file(submission, "zyx.pdf", size=0)
    return application


@pytest.fixture
def office(at: datetime, settings: Any, tmp_path: Any) -> SimpleNamespace:
    """An application with everything, and others without an address, withdrawn, and of the same
    person.
    """
    settings.PRIVATE_ROOT = tmp_path
    Stage.objects.all().delete()  # their names are data
    Status.objects.all().delete()
    MailTemplate.objects.all().delete()
    labels = dict.fromkeys(("en", *LANGUAGES), f"{MARK} status")
    first = make_stage(f"{MARK} first", **labels)
    rejected = make_stage(f"{MARK} rejected", embargo_days=2, **labels)
    Stage.objects.filter(pk=rejected.pk).update(kind=Stage.Kind.REJECTED)
    own = make(at=at - timedelta(hours=1), stage=first, rating=4)
    make(at=at, stage=first, is_repeated=True, vacancy=own.vacancy)
    withdrawn = make(at=at, stage=rejected, withdrawn_at=at, verified_at=at, read_at=at)
    silent = make(at=at, stage=first, email="", email_folded="", is_spontaneous=True)
    make_step(own, f"{MARK} step")
    mia = User.objects.create_user(
        f"{MARK}mia", "mia@example.org", is_staff=True, is_superuser=True
    )
    for author in (mia, None):
        note = Note.objects.create(application=own, text=MARK, author=author, created_at=at)
        note.mentioned.set([mia])
    texts = {
        f"{part}_{code}": f"{MARK} {{name}}"
        for part in ("subject", "body")
        for code in ("en", "de")
    }
    template = MailTemplate.objects.create(name=f"{MARK} template", **texts)
    for kind in Message.Kind:
        for state in Message.State:
            message = queue(
                Email(
                    kind=kind,
                    to=ADDRESS,
                    language="de",
                    subject=f"{MARK} subject",
                    body=MARK,
                    application=own,
                    author=mia,
                ),
                at=at,
            )
            Message.objects.filter(pk=message.pk).update(state=state)
    for access in Access:
        AccessLog.objects.create(actor=mia, application=own.pk, at=at, action=access)
    make_token(mia)
    Token.objects.update(token_key=MARK)
    client = Client()
    client.force_login(User.objects.create_superuser(f"{MARK}root", f"{MARK}root@example.org"))
    return SimpleNamespace(**locals())


def admin_pages(office: SimpleNamespace) -> list[str]:
    """Return the URLs of the admin of applications, with a row of each model where needed."""
    found = ["/admin/"]
    for model in apps.get_app_config("applications").get_models():
        if not admin.site.is_registered(model):
            continue
        row = office.own if model is Application else model._default_manager.order_by("pk").first()
        assert row is not None, model
        for pattern in admin.site.get_model_admin(model).get_urls():
            if isinstance(pattern, URLPattern) and pattern.name:
                route = re.sub(r"<(\w+:)?\w+>", str(row.pk), str(pattern.pattern))
                found.append(f"{PLACE}{model._meta.model_name}/{route}")
    return found


@pytest.mark.slow("opens every page of the admin in two languages")
def test_every_page_of_the_admin(office: SimpleNamespace) -> None:
    filters = ("q=nothing-that-is-there", "read=no", "mark=repeated", "age=7", "rating=none")
    emails = [f"{LIST}{office.own.pk}/email/?template={office.template.pk}"]
    found, seen = {}, []
    for path in [*admin_pages(office), *(f"{LIST}?{each}" for each in filters), *emails]:
        answer, english = in_both(office.client, path, LANGUAGE)
        if is_page(answer):
            seen.append(path)
            if left := leftovers(answer, english, LANGUAGE):
                found[path] = left

    # confirmations of bulk actions
    chosen = list(Application.objects.values_list("pk", flat=True))
    actions = [f"move_to_{office.rejected.pk}", "email_selected"]
    posts = [(LIST, {"action": action, "_selected_action": chosen}) for action in actions]
    posts.append(
        (f"{LIST}{office.own.pk}/email/", {"subject": MARK, "body": "{x}", "step": "preview"})
    )
    for path, data in posts:
        answer, english = in_both(office.client, path, LANGUAGE, **data)
        assert answer.status_code in (200, 422), (path, data)
        if left := leftovers(answer, english, LANGUAGE):
            found[f"{path} {data}"] = left

    assert found == {}
    assert len(seen) > 30
    assert f"{LIST}board/" in seen


def applicant_pages(prefix: str, token: str, pk: int) -> list[str]:
    found = []
    for pattern in urlpatterns:
        assert not isinstance(pattern, URLResolver)
        route = str(pattern.pattern)
        if not route.endswith(("export", ".ics")):
            found.append(prefix + route.replace("<str:token>", token).replace("<int:pk>", str(pk)))
    return found


@pytest.mark.slow("opens many pages")
def test_every_page_of_an_applicant(office: SimpleNamespace) -> None:
    mia = Client()
    user = make_user(f"{MARK}user", email=ADDRESS)
    mia.force_login(user)
    own = make(at=office.at, stage=office.first, user=user)
    token, found = receipt_path(office.own).split("/")[3], {}
    for client, secret in ((Client(), token), (Client(), token), (mia, token), (Client(), "wrong")):
        for path in applicant_pages("/account/", secret, own.pk):
            answer, english = in_both(client, path, LANGUAGE)
            if answer["Content-Type"].startswith("text/html"):
                found[path, client is mia] = leftovers(answer, english, LANGUAGE) | found.get(
                    (path, client is mia), set()
                )
        Application.objects.filter(pk=office.own.pk).update(verified_at=office.at)  # by the button
    assert {page: left for page, left in found.items() if left} == {}


@pytest.mark.slow("opens many pages")
@pytest.mark.parametrize("language", ["en", LANGUAGE])
def test_apply_page_is_in_the_language_of_the_form(
    office: SimpleNamespace, settings: Any, language: str
) -> None:
    settings.APPLY_PAGES = True
    email = text_field("email", type="email", role="email", required=True, label=f"{MARK} mail")
    others = [
        text_field(f"{MARK}{kind}", type=kind, label=MARK)
        for kind in ("tel", "date", "file", "range")
    ]
    form = forms.create(name=MARK, language=language, structure=[section(email, *others)])
    brand = make_brand(f"{MARK} brand")
    vacancy = make_vacancy(
        title=MARK, form=form, brand=brand, publish_from=office.at - timedelta(days=1)
    )
    english = forms.create(name=f"{MARK} en", language="en", structure=[section(email, *others)])
    path = f"/apply/{vacancy.pk}"

    for data in ({}, {"email": "wrong", f"{MARK}date": "wrong"}):
        ask = office.client.post if data else office.client.get
        answer = ask(path, data)
        vacancy.form = english
        vacancy.save()
        plain = ask(path, data)
        vacancy.form = form
        vacancy.save()
        assert answer["Content-Language"] == language
        if language != "en":
            assert leftovers(answer, plain, language) == set()


# --- emails -------------------------------------------------------------------------------------


def lines(message: Message | None) -> set[str]:
    assert message is not None
    return {
        line for line in [message.subject, *message.text.splitlines()] if line and MARK not in line
    }


def test_emails(office: SimpleNamespace, settings: Any) -> None:
    """No line is the same in English, unless it has a name that a person gave."""
    found = {}
    for code in ("en", LANGUAGE):
        settings.LANGUAGE_CODE = code  # of emails to recruiters
        Application.objects.update(language=code)
        Message.objects.all().delete()
        own = Application.objects.get(pk=office.own.pk)
        note = Note.objects.filter(author=None).get()
        digest = queue_digest(office.mia, at=office.at)
        emails = [
            queue_receipt(application=own, at=office.at),
            queue_withdrawal(application=own, at=office.at),
            *queue_mentions(note, at=office.at),
            digest,
        ]
        assert len(emails) == 4
        found[code] = set().union(*map(lines, emails))

    addresses = {line for line in found["en"] if "http://" in line}
    assert found["en"] & found[LANGUAGE] == addresses
    assert len(found["en"]) == len(found[LANGUAGE])


def test_permissions_are_translated() -> None:
    rows = Permission.objects.filter(content_type__app_label="applications").select_related(
        "content_type"
    )

    with translation.override("en"):
        english = {row.pk: permission_label(row) for row in rows}
    with translation.override(LANGUAGE):
        both = [(english[row.pk].split(" | "), permission_label(row).split(" | ")) for row in rows]
    assert [old for old, new in both if old[-1] == new[-1]] == []

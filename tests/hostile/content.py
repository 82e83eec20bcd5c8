"""The content of the site that gets the hostile requests:
vacancies, hidden and shown, and credentials.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.chaos import oracle

HIDDEN_WORD = "zyxhidden"  # in every text of a hidden vacancy
KINDS = ("draft", "scheduled", "expired", "unpublished", "internal", "deleted")
HIDDEN = {kind: 4_815_162_341 + number for number, kind in enumerate(KINDS)}
# Shown to nobody.
INTERNAL = {"client": f"{HIDDEN_WORD} requisition", "note": f"{HIDDEN_WORD} requisition"}
INTERNAL |= {"criteria": [f"{HIDDEN_WORD} requisition"]}
ABSENT = 4_815_162_399  # never existed; as long as the ids of the hidden ones
BASE = "https://jobs.example.org"
ENV = {"DJANGO_SETTINGS_MODULE": "tests.hostile.settings", "PUBLIC_BASE_URL": BASE}
ENV |= {"SECRET_KEY": "only-for-hostile-requests-0123456789-abcdefghijklmnopqrstuvwxyz"}
ENV |= {"INTERNAL_ACCESS": "authenticated", "TRUSTED_PROXIES": "127.0.0.1/32"}
ENV |= {"ALLOWED_HOSTS": "localhost", "RATE_LIMIT": "off", "APPLY_PROOF": "off"}


@dataclass
class Content:
    """What requests need to know of the content. `tokens` and `sessions` are by user."""

    tokens: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    users: dict[str, int] = field(default_factory=dict)
    shown: list[int] = field(default_factory=list)
    own_draft: int = 0
    own_form: int = 0
    own_application: int = 0
    open_vacancy: int = 0  # takes applications
    form_version: str = ""
    filter: int = 0
    origin: str = "http://localhost"

    @property
    def secrets(self) -> list[bytes]:
        return [text.encode() for text in (*self.tokens.values(), *self.sessions.values())]


def create() -> Content:
    from django.contrib.sessions.models import Session
    from django.utils import timezone

    from applications.models import SubmissionFile
    from tests import admin_pages
    from tests.applications.makers import make_application, make_step, make_token, make_user
    from tests.applications.submissions import sending
    from tests.contract.sample import make_site
    from vacancies.models import Vacancy

    now = timezone.now()
    content, world = Content(), admin_pages.build()
    make_site(now)
    for kind in HIDDEN:
        hide(kind, now)
    opened = sending.make_open_vacancy()
    content.open_vacancy = opened.pk
    content.form_version = sending.served_version(Vacancy.objects.with_form().get(pk=opened.pk))
    for name in ("A", "B"):
        user = make_user(f"applicant-{name}", first_name=HIDDEN_WORD)
        application = make_application(
            user=user, vacancy=Vacancy.objects.get(pk=HIDDEN["unpublished"])
        )
        make_step(application, f"{HIDDEN_WORD} step of {name}")
        content.tokens[name], content.users[name] = make_token(user), user.pk
        content.sessions[name] = admin_pages.session_of(user)
    content.tokens["expired"] = make_token(user, lifetime=timedelta(seconds=-1))
    for name in ("expired", "closed"):
        content.sessions[name] = admin_pages.session_of(leaver := make_user(f"applicant-{name}"))
    Session.objects.filter(pk=content.sessions["expired"]).update(
        expire_date=now - timedelta(days=1)
    )
    leaver.is_active = False
    leaver.save()
    content.sessions |= {"recruiter": world.sessions["Recruiter"], "root": world.sessions["root"]}
    content.own_draft, content.own_form = world.own.draft.pk, world.own.form.pk
    content.own_application, content.filter = (
        world.own.application.pk,
        world.spare["vacancies.filter"].pk,
    )
    continue_numbers(SubmissionFile)
    vacancies = Vacancy.objects.all()
    content.shown = oracle.newest_first(
        v for v in vacancies if oracle.is_listed("/v1/vacancies", v, now)
    )
    return content


def continue_numbers(model: Any) -> None:
    """Let new rows get ids after those of `model` that tests chose themselves
    (tests/admin_pages.py).
    """
    from django.core.management.color import no_style
    from django.db import connection

    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [model]):
            cursor.execute(statement)


def hide(kind: str, now: Any) -> None:
    """Create a hidden vacancy whose form, brand, recruiter and options no other vacancy has."""
    from applications.models import BrandMail
    from forms_structure import operations
    from forms_structure.models import ConsentText
    from tests.factories import make_brand, make_recruiter, make_vacancy
    from tests.forms_structure.strategies import section, text_field
    from vacancies.models import Attachment, FilterOption, Place, Requisition

    values: dict[str, Any] = {
        "draft": {"status": "draft"},
        "unpublished": {"status": "unpublished"},
        "scheduled": {"publish_from": now + timedelta(days=30)},
        "expired": {"publish_from": now - timedelta(days=30), "publish_until": now},
        "internal": {"audience": "internal", "is_hot": True},
        "deleted": {},
    }[kind]
    word = f"{HIDDEN_WORD} {kind}"
    html, url = f"<p>{word}</p>", f"https://files.test/{HIDDEN_WORD}.pdf"
    field = text_field(f"{HIDDEN_WORD}_{kind}", label=word, required=True)
    form = operations.create(
        name=f"{word} form", structure=[section(field, title=word, description=html)]
    )
    head = make_recruiter(f"{word} head", email=f"{HIDDEN_WORD}@example.org", is_email_public=True)
    values |= {"pk": HIDDEN[kind], "options": {"regions": [word], "types": [word]}, "form": form}
    values |= {"brand": make_brand(f"{word} brand"), "head_recruiter": head, "title": word}
    ConsentText.objects.add(
        brand_number=values["brand"].pk,
        language="en",
        text=word,
        statement_url=url,
        statement_label=word,
    )
    BrandMail.objects.create(brand=values["brand"], sender_name=word, signature_en=word)
    values |= {"reference": word, "pay_note": word, "language": "is", "work_place": "remote"}
    vacancy = make_vacancy(description=html, **{"audience": "both", "is_hot": True} | values)
    Attachment.objects.create(vacancy=vacancy, name=f"{word}.pdf", url=url)
    Requisition.objects.create(vacancy=vacancy, **INTERNAL)
    Place.objects.create(vacancy=vacancy, locality=word, country="IS", latitude=64, longitude=-21)
    FilterOption.objects.filter(label=word).update(employment_type="VOLUNTEER")
    if kind == "deleted":
        vacancy.delete()

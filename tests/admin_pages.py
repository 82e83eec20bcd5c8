"""The admin for tests of roles and of brand scoping: its routes, two brands with rows of every
model, an account of each role, and data to post to each form.
"""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models import Q
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from applications.mail.outbox import Email, queue
from applications.models import (
    AccessLog,
    Application,
    ApplicationTag,
    BrandMail,
    ConsentRequest,
    Invitation,
    MailTemplate,
    Message,
    MessageFile,
    Note,
    Origin,
    Participant,
    Reason,
    Scorecard,
    StageChange,
    Status,
    SubmissionFile,
    Tag,
)
from applications.operations.invitations import invite
from applications.tokens import issue
from forms_structure import operations as forms
from forms_structure.models import ConsentText, Form
from jobsite import private_files
from jobsite.accounts import roles
from tests.applications.makers import (
    make_application,
    make_file,
    make_stage,
    make_step,
    make_submission,
)
from tests.factories import make_brand, make_filter, make_option, make_recruiter, make_vacancy
from vacancies.admin.publication.selection import VacancySelection
from vacancies.history.versions import read_content, record, record_deletion
from vacancies.manage.tokens import create_integration
from vacancies.models import (
    Attachment,
    Brand,
    BrandLink,
    Change,
    Filter,
    Integration,
    Requisition,
    Vacancy,
    VacancyTemplate,
    Version,
    Webhook,
)
from vacancies.operations.approval_requests import request_approval
from vacancies.querysets import EVERY_BRAND

FOREIGN = "zzforeign"  # in every text of the other brand, and in no URL that a test requests
WORD = "qqsecret"  # in the same texts, to search for
OWN = "zzown"
NO_ROWS = {
    f"{prefix}-{name}": "0"
    for prefix in ("places", "recruiter_links", "attachments", "options", "history", "tokens")
    for name in ("TOTAL_FORMS", "INITIAL_FORMS")
}
APPS = ("auth", "forms_structure", "vacancies", "applications")


# --- routes ------------------------------------------------------------------------------------


def every_route(resolver: Any = None, before: str = "") -> Iterator[str]:
    for pattern in (resolver or get_resolver()).url_patterns:
        route = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from every_route(pattern, route)
        else:
            yield route


def routes() -> Iterator[str]:
    return (route for route in every_route() if route.startswith("admin"))


def kind_of(route: str) -> tuple[str, str] | None:
    """The model and the kind of page of a `route`; None for a page of no model."""
    found = re.fullmatch(r"admin/(\w+)/(\w+)/(.*)", route)
    if not found or found[1] not in APPS:
        return None
    words = [word for word in found[3].split("/") if word and not word.startswith("<")]
    kind = "/".join(words) or ("bare" if found[3] else "list")
    return f"{found[1]}.{found[2]}", kind


def address(route: str, pk: Any = 0, number: Any = 0) -> str:
    filled = re.sub(r"<int:number>", str(number), route)
    return "/" + re.sub(r"<(path:object_id|id|int:pk)>", str(pk), filled)


def place_file(pk: Any) -> None:
    """Write the file of the row `pk`, because each test has its own folder."""
    for model in (SubmissionFile, MessageFile):
        file = model.objects.filter(pk=pk).first()
        if file and not private_files.exists(file.path):
            private_files.write(file.path, [file.original_name.encode()])


# --- rows --------------------------------------------------------------------------------------


def structure(text: str) -> list[dict[str, Any]]:
    name = re.sub(r"\W", "_", text)
    field = {"name": name, "type": "text", "label": text, "required": False, "css": "col-6"}
    return [{"title": f"{text} section", "description": "", "fields": [field]}]


def make_form(text: str, **values: Any) -> Form:
    """Create a form in its second version."""
    form = forms.create(name=f"{text} form {WORD}", structure=structure(f"{text}_a"), **values)
    forms.save(form, forms.FormEdit(structure(f"{text}_b")), author=values.get("author"))
    return form


def make_rows(text: str, colleague: User) -> SimpleNamespace:
    """Create a brand with rows of every model.
    All contain `text` and have `colleague` as author.
    """
    now = timezone.now()
    form = make_form(text, author=colleague)
    values = {"description": f"<p>{text}</p>", "form": form, "url": f"https://{text}.test"}
    brand = make_brand(f"{text} brand {WORD}", **values)
    BrandMail.objects.create(
        brand=brand, sender_name=f"{text} jobs {WORD}", signature_en=f"{text} sign {WORD}"
    )
    consent = ConsentText.objects.add(
        language="en", brand_number=brand.pk, text=f"{text} consent {WORD}"
    )
    BrandLink.objects.create(
        brand=brand, kind="imprint", label=f"{text} link {WORD}", url=f"https://{text}.test"
    )
    contact = make_recruiter(f"Contact of {text[2:]}")  # shown to every brand
    columns = ("title_internal", "location", "profile", "offer", "contact", "pay_note")
    texts = {name: f"{text} {name} {WORD}" for name in columns}
    common = {
        "brand": brand,
        "head_recruiter": contact,
        "description": f"<p>{text} text</p>",
        **texts,
    }
    rows = {
        "draft": {"status": "draft", "publish_from": None},
        "spare": {"status": "draft", "publish_from": None},
        "planned": {"publish_from": now + timedelta(days=3)},
        "shown": {"publish_until": now + timedelta(days=3), "form": form},
        "archived": {"status": "archived", "is_hot": True},
    }
    made = {}
    for name, values in rows.items():
        more = {"title": f"{text} {name} {WORD}", "recruiters": (contact.name,), **values}
        made[name] = make_vacancy(**common | more)
    for vacancy in made.values():
        Attachment.objects.create(
            vacancy=vacancy, name=f"{text} file", url=f"https://files.test/{text}.pdf"
        )
        vacancy.places.create(locality=f"{text} city", country="BE")
        record(vacancy, Change.EXTERNAL, author=colleague, at=now)
        Vacancy.objects.filter(pk=vacancy.pk).update(location=f"{text} elsewhere")
        record(vacancy, Change.CHANGED, author=colleague, at=now)
    stored = {"content": read_content(made["draft"]), "updated_by": colleague}
    for name in ("draft", "shown"):
        Requisition.objects.create(
            vacancy=made[name],
            client=f"{text} client {WORD}",
            note=f"{text} {WORD}",
            criteria=[text],
        )
    VacancyTemplate.objects.create(name=f"{text} stored {WORD}", brand=brand, **stored)
    request_approval(made["spare"], {"title": f"{text} asked"}, note=text, at=now, author=colleague)
    gone = make_vacancy(title=f"{text} gone {WORD}", **common)
    record_deletion([gone.pk], author=colleague, at=now)
    pk = gone.pk
    gone.delete()
    applicant = User.objects.create_user(
        f"{text}_applicant", f"{text}@applicant.test", last_name=text
    )
    first = make_stage(f"Stage {text[2:]}")
    application = make_application(
        user=applicant, vacancy=made["shown"], stage=first, read_at=now, is_spontaneous=True
    )
    later = make_stage(f"Later {text[2:]}", embargo_days=9)
    StageChange.objects.create(application=application, stage=later, author=colleague, at=now)
    Note.objects.create(application=application, author=colleague, text=f"{text} note {WORD}")
    at = {"planned_at": now + timedelta(days=1), "ends_at": now + timedelta(days=1, hours=1)}
    texts = dict.fromkeys(("result", "place", "details"), text)
    step = make_step(
        application,
        f"{text} talk {WORD}",
        uid=f"{pk:032}",
        zone="Europe/Brussels",
        author=colleague,
        video_url=f"https://meet.test/{text}",
        **at,
        **texts,
    )
    for user, address in ((colleague, f"{text}@colleague.test"), (None, f"{text}@applicant.test")):
        Participant.objects.create(entry=step, user=user, address=address)
    Scorecard.objects.create(
        application=application,
        entry=step,
        author=colleague,
        recommendation=1,
        text=f"{text} card {WORD}",
        scores=[{"name": f"{text} criterion", "score": 2}],
        sent_at=now,
    )
    submission = make_submission(application, {"cv": text}, consent_text=text, source=text)
    # The URL of its page has the same number.
    make_file(submission, f"{text}.pdf", pk=application.pk)
    Origin.objects.create(
        application=application, channel="agency", basis="interest", author=colleague
    )
    ConsentRequest.objects.create(
        application=application,
        purpose="pool",
        text=text,
        version=1,
        due_on=timezone.localdate(now) - timedelta(days=1),  # can be asked again
    )
    tag = Tag.objects.create(
        brand=brand, name=f"{text} tag {WORD}"[:40], folded=f"{text} tag {WORD}"
    )
    ApplicationTag.objects.create(application=application, tag=tag)
    AccessLog.objects.create(actor=colleague, application=application.pk, action="view")
    message = queue(
        Email(
            kind=Message.Kind.TEMPLATE,
            to=f"{text}@applicant.test",
            language="en",
            subject=f"{text} {WORD}",
            body=text,
            application=application,
            author=colleague,
        ),
        at=now,
    )
    make_file(message, f"{text} offer.pdf", pk=application.pk)
    token, _ = issue(user=applicant, lifetime=timedelta(days=1))
    return SimpleNamespace(
        brand=brand,
        form=form,
        contact=contact,
        gone=pk,
        application=application,
        step=step,
        message=message,
        applicant=applicant,
        token=token,
        colleague=colleague,
        consent=consent,
        **made,
    )


def moved(vacancy: Vacancy, brand: Any, authors: tuple[User, User], **values: Any) -> Vacancy:
    """Move `vacancy` to another `brand` with other `values`. Its history has a version by the first
    of `authors`, and the move by the second.
    """
    record(vacancy, Change.CREATED, author=authors[0], at=timezone.now())
    for name, value in {"brand": brand, **values}.items():
        setattr(vacancy, name, value)
    vacancy.save()
    record(vacancy, Change.CHANGED, author=authors[1], at=timezone.now())
    return vacancy


def build() -> SimpleNamespace:
    """Create two brands, rows that both use, and the accounts."""
    roles.create()
    make_filter("regions")
    there = Form.objects.default().first()
    default = there or forms.create(name="Site", structure=structure("site"))
    forms.make_default(form=default)
    ConsentText.objects.add(language="en", text="Agreed", statement_url="", statement_label="")

    theirs = User.objects.create_user(f"{FOREIGN}_colleague", is_staff=True, first_name=FOREIGN)
    anna = User.objects.create_user("anna", is_staff=True, first_name="Anna")
    editor = User.objects.create_user("editor", is_staff=True)
    own, foreign = make_rows(OWN, anna), make_rows(FOREIGN, theirs)
    theirs.groups.add(Group.objects.get(name="Recruiter"))
    foreign.brand.members.add(theirs)

    # rows that both brands use
    shared = make_form("zzshared")
    Vacancy.objects.filter(pk=own.archived.pk).update(form=shared)
    Vacancy.objects.filter(pk=foreign.archived.pk).update(form=shared)
    Vacancy.objects.filter(pk=foreign.draft.pk).update(form=default)
    extension = make_form(f"{FOREIGN}_extension", extends=default)
    Vacancy.objects.filter(pk=foreign.planned.pk).update(form=extension)
    free_extension = make_form(f"{FOREIGN}_free", extends=foreign.form)
    texts = {
        "description": f"<p>{OWN}</p>",
        "title": f"{OWN} taken over",
        "form": None,
        "status": "draft",
    }
    taken_over = moved(
        make_vacancy(
            title=f"{FOREIGN} taken over",
            title_internal="Nurse",
            brand=foreign.brand,
            form=foreign.form,
            description=f"<p>{FOREIGN} taken over</p>",
            audience="internal",
        ),
        own.brand,
        (theirs, editor),
        **texts,
    )
    given_away = make_vacancy(title=f"{OWN} given away", brand=own.brand)
    moved(given_away, foreign.brand, (anna, editor), title=f"{FOREIGN} given")
    lost = moved(make_vacancy(title=f"{OWN} lost", brand=own.brand), foreign.brand, (anna, editor))
    record_deletion([lost.pk], author=theirs, at=timezone.now())
    lost_pk = lost.pk
    lost.delete()

    strict = make_brand(f"{OWN} strict brand", requires_approval=True, form=own.form)
    for name in ("strict", "waiting"):
        text = f"{OWN} {name}"
        common = {
            "brand": strict,
            "head_recruiter": own.contact,
            "status": "draft",
            "publish_from": None,
        }
        setattr(own, name, make_vacancy(title=text, description=f"<p>{text}</p>", **common))
    request_approval(own.waiting, {"status": "published"}, at=timezone.now(), author=None)

    # rows to delete
    spare_brand = make_brand(f"{OWN} spare brand")
    spare_option = make_option("regions", "Spare region")
    in_use = make_option("regions", "Used region")
    own.draft.choices.create(option=in_use)
    stage = make_stage("Spare stage")
    spare = {
        "auth.user": User.objects.create_user("spare", is_staff=True),
        "auth.group": Group.objects.create(name="Spare"),
        "forms_structure.consenttext": ConsentText.objects.filter(brand_number=None).latest(
            "version"
        ),
        "forms_structure.form": make_form(f"{OWN}_spare"),
        "vacancies.brand": spare_brand,
        "vacancies.brandlink": BrandLink.objects.create(
            brand=own.brand, kind="other", label="Spare link", url="https://spare.test"
        ),
        "vacancies.integration": integration_of(own.brand),
        "vacancies.filter": Filter.objects.get(keyword="regions"),
        "vacancies.filteroption": spare_option,
        "vacancies.recruiter": make_recruiter("Spare contact"),
        "vacancies.vacancy": own.spare,
        "vacancies.vacancytemplate": VacancyTemplate.objects.create(
            name=f"{OWN} template", brand=own.brand, content={"title": OWN}
        ),
        "vacancies.webhook": Webhook.objects.create(
            name="Spare webhook", url="https://127.0.0.1/", state="failed"
        ),
        "applications.token": own.token,
        "applications.accesslog": AccessLog.objects.get(application=own.application.pk),
        "applications.application": own.application,
        "applications.mailtemplate": MailTemplate.objects.create(
            name="Spare template", subject_en="Spare", body_en="Spare"
        ),
        "applications.message": own.message,
        "applications.stage": stage,
        "applications.reason": Reason.objects.create(name="Spare reason"),
        "applications.status": Status.objects.create(label_en="Spare status"),
        "applications.historyentry": own.step,
    }
    staff = {"Recruiter": anna, "Editor": editor}
    for role in roles.NAMES:
        if role not in staff:
            staff[role] = User.objects.create_user(role.split()[0].lower(), is_staff=True)
        staff[role].groups.add(Group.objects.get(name=role))
    staff["Nobody"] = User.objects.create_user("nobody", is_staff=True)
    # A recruiter of no brand.
    staff["Homeless"] = User.objects.create_user("homeless", is_staff=True)
    staff["Homeless"].groups.add(Group.objects.get(name="Recruiter"))
    # no role is like this, but a group could be: all permissions, for its own brand only
    staff["Handy"] = User.objects.create_user("handy", is_staff=True)
    ours = Permission.objects.filter(content_type__app_label__in=roles.OURS)
    staff["Handy"].user_permissions.set(ours.exclude(codename=EVERY_BRAND.partition(".")[2]))
    for user in (
        staff["Recruiter"],
        staff["Approver"],
        staff["Brand administrator"],
        staff["Handy"],
    ):
        user.brands.add(own.brand, spare_brand, strict)
    spare["auth.user"].brands.add(spare_brand)
    root = User.objects.create_superuser("root")

    invitation = invite(
        invitation=Invitation(
            email="invited@example.org",
            first_name="",
            last_name="",
            role=Group.objects.get(name="Recruiter"),
            language="en",
            author=root,
        ),
        brands=[own.brand],
        at=timezone.now(),
    )

    world = SimpleNamespace(
        own=own,
        foreign=foreign,
        shared=shared,
        default=default,
        extension=extension,
        root=root,
        free_extension=free_extension,
        taken_over=taken_over,
        given_away=given_away,
        lost=lost_pk,
        spare=spare,
        staff=staff,
        other_stage=stage,
        invitation=invitation,
    )
    hook = Webhook.objects.create(
        name=f"{FOREIGN} webhook", url=f"https://{FOREIGN}.test/", brand=foreign.brand
    )
    world.foreign_pks = {
        "vacancies.webhook": [hook.pk],
        "vacancies.vacancy": [
            *(
                getattr(foreign, name).pk
                for name in ("draft", "planned", "shown", "archived", "spare")
            ),
            foreign.gone,
            given_away.pk,
            lost_pk,
        ],
        "vacancies.brand": [foreign.brand.pk],
        "vacancies.recruiter": [foreign.contact.pk],
        "vacancies.vacancytemplate": [VacancyTemplate.objects.get(brand=foreign.brand).pk],
        "vacancies.integration": [integration_of(foreign.brand).pk],
        "vacancies.brandlink": [BrandLink.objects.get(brand=foreign.brand).pk],
        "forms_structure.form": [foreign.form.pk, extension.pk, free_extension.pk],
        "forms_structure.consenttext": [foreign.consent.pk],
        "applications.application": [foreign.application.pk],
        "applications.historyentry": [foreign.step.pk],
        "applications.message": [foreign.message.pk],
        "applications.token": [foreign.token.pk],
        "applications.accesslog": [AccessLog.objects.get(application=foreign.application.pk).pk],
        "auth.user": [theirs.pk, foreign.applicant.pk],
    }
    world.own_pks = {model: [row.pk] for model, row in spare.items()} | {
        "vacancies.vacancy": [
            *(getattr(own, name).pk for name in ("draft", "planned", "shown", "archived", "spare")),
            own.gone,
            taken_over.pk,
        ],
        "vacancies.brand": [own.brand.pk, spare_brand.pk],
        "vacancies.recruiter": [own.contact.pk, spare["vacancies.recruiter"].pk],
        "forms_structure.form": [
            own.form.pk,
            spare["forms_structure.form"].pk,
            default.pk,
            shared.pk,
        ],
        "forms_structure.consenttext": [own.consent.pk, spare["forms_structure.consenttext"].pk],
    }
    world.sessions = {name: session_of(user) for name, user in {**staff, "root": root}.items()}
    return world


def integration_of(brand: Brand) -> Integration:
    """Create an integration with access to `brand`."""
    made = create_integration(Integration(name=f"HRIS of {brand}"), author=None)
    made.brands.add(brand)
    return made


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def signed_in(world: SimpleNamespace, name: str) -> Client:
    client = Client()
    client.cookies["sessionid"] = world.sessions[name]
    return client


# --- data to post ----------------------------------------------------------------------------

JSON = ("save", "check", "copy", "extend")


def erasure_of(application: Any) -> dict[str, Any]:
    """Return the form of an erasure, with all ticks that it has first."""
    own = Q(user=application.user) if application.user else Q(email_folded=application.email_folded)
    pks = list(Application.objects.filter(own).newest_first().values_list("pk", flat=True))
    form = {"seen": ",".join(map(str, pks)), "application": pks, "confirmed": "1"}
    return form | ({"account": application.user_id} if application.user else {})


def posted(world: SimpleNamespace, model: str, kind: str, pk: int | None) -> dict[str, Any]:
    """Arguments of `client.post` for the page `kind` of the row `pk`:
    data that would change something.
    """
    row = apps.get_model(model).objects.filter(pk=pk).first() if pk else None
    change = row.changes.last().pk if row and model == "applications.application" else 0
    day = timezone.now().date() + timedelta(days=30)
    simple: dict[str, dict[str, Any]] = {
        "list": {"action": "delete_selected", "_selected_action": [pk], "post": "yes"},
        "delete": {"post": "yes"},
        "restore": {"revision": 1, "seen": getattr(row, "revision", 1)},
        "approval": {"withdraw": "1"},
        "template": {"name": "Posted", "brand": world.own.brand.pk},
        "schedule": {"publish_from_0": str(day), "publish_from_1": "10:00:00"},
        "extend": {"day": str(day)},
        "import": {"file": SimpleUploadedFile("rows.csv", f"ID,Title\n{pk},Posted".encode())},
        "list-preference": {"columns": ["location"]},
        "views": {"name": "Posted", "query": "state=draft"},
        "views/add": {"name": "Posted", "query": "state=draft"},
        "note": {"text": "Posted"},
        "scorecard": {
            "recommendation": 3,
            "text": "Posted",
            "criteria": _criteria(row) if kind == "scorecard" else "",
        },
        "consider": {"vacancy": world.foreign.spare.pk},
        "vacancy": {"vacancy": world.foreign.spare.pk},
        "owner": {"owner": world.staff["Recruiter"].pk},
        "tag": {"name": "Posted", "step": "add"},
        "contact": {"family_name": "Posted", "language": "en"},
        "task": {"name": "Posted", "planned_at_0": str(day), "planned_at_1": "10:00:00"},
        "email": {"subject": "Posted", "body": "Posted", "step": "send"},
        "interview": {
            "uid": "0f" * 16,
            "name": "Posted",
            "starts_at_0": str(day),
            "starts_at_1": "10:00:00",
            "minutes": 60,
            "zone": "UTC",
            "invites": "on",
            "step": "send",
        },
        "move": {
            "applications": f"{pk if row else 0}:{change or ''}",
            "stage": world.other_stage.pk,
        },
        "choose-times": {
            "applications": f"{pk if row else 0}:{change or ''}",
            "name": "Posted",
            "minutes": 60,
            "zone": "UTC",
            "notice_hours": 0,
            "closes_on": str(day),
            "day1": str(day),
            "from1": "10:00",
            "until1": "12:00",
            "step": "send",
        },
        "emails": {
            "applications": f"{pk if row else 0}:{change or ''}",
            "stage": world.other_stage.pk,
        },
        "erase": erasure_of(row) if kind == "erase" else {},
        "undo": {"change": change} if model == "applications.application" else {},
        "option": {"label": "Posted"},
        "translate": {"filter": "Posted", "add": "fr"},
        "password": dict.fromkeys(("password1", "password2"), "correct horse battery")
        | {"usable_password": "true"},
        "internal": {
            "internal-client": "Posted",
            "internal-positions": 1,
            "seen": _seen(row) if kind == "internal" else "",
        },
        "autosave": {"page": "posted", "title": "Posted"},
        "discard": {"page": "posted", "title": "Posted"},
    }
    if kind.startswith("bulk/"):
        selection = VacancySelection.of(Vacancy.objects.filter(pk=pk))
        return {"data": {"vacancies": str(selection), **posted(world, model, kind[5:], pk)["data"]}}
    if kind in JSON and model == "forms_structure.form":
        requested = {"structure": structure("posted")} if kind != "extend" else {}
        if kind == "save" and row:
            requested |= {"revision": row.revision, "name": row.name, "language": row.language}
        return {"data": json.dumps(requested), "content_type": "application/json"}
    if model == "vacancies.brand" and kind == "emails":
        return {"data": {"sender_name": "Posted", "en-text": "Posted", "en-version": 0}}
    if kind in ("add", "change", "review"):
        return {"data": {**NO_ROWS, **_fields(world, model, None if kind == "add" else row)}}
    return {"data": simple.get(kind, {})}


def _criteria(application: Any) -> str:
    """The criteria that the page of a scorecard shows."""
    return json.dumps(application.vacancy.requisition.criteria) if application else ""


def _seen(vacancy: Any) -> str:
    """The version of the internal data that the page of `vacancy` has."""
    row = Requisition.objects.filter(vacancy=vacancy).first()
    return row.updated_at.isoformat() if row else ""


def _fields(world: SimpleNamespace, model: str, row: Any) -> dict[str, Any]:
    posted, status = {"name": "Posted"}, world.other_stage.status_id
    texts: dict[str, dict[str, Any]] = {
        "vacancies.vacancytemplate": posted | {"brand": world.own.brand.pk},
        "vacancies.webhook": posted
        | {"url": "https://hooks.test/", "kind": "events", "audience": "public"},
        "vacancies.filter": {"label": "Posted", "position": 0},
        "vacancies.filteroption": {"label": "Posted", "value": "posted", "position": 0},
        "forms_structure.form": posted | {"language": "en"},
        "forms_structure.consenttext": {
            "text": "Posted",
            "language": "en",
            "purpose": "application",
        },
        "applications.stage": posted
        | {
            "status": status,
            "embargo_days": 0,
            "position": 0,
            "kind": "open",
            "asks_reason": "never",
            "email_after_hours": 1,
            "remind_days": 0,
        },
        "applications.reason": posted | {"kind": "rejected", "position": 0},
        "applications.status": {"label_en": "Posted"},
        "applications.mailtemplate": posted | {"subject_en": "Posted", "body_en": "Posted"},
    }
    match model:
        case "vacancies.vacancy":
            return {
                "title": "Posted",
                "description": "<p>Posted</p>",
                "status": "draft",
                "audience": "public",
                "brand": world.own.brand.pk,
                "head_recruiter": world.own.contact.pk,
                "version": row.updated_at.isoformat() if row else "",
            }
        case "vacancies.filteroption":
            return texts[model] | {"filter": Filter.objects.first().pk}
        case "applications.application" if row is None:
            return {
                "vacancy": world.own.shown.pk,
                "family_name": "Posted",
                "language": "en",
                "channel": "phone",
                "received_on": str(timezone.localdate()),
            }
        case "auth.user":
            brands = [world.own.brand.pk]
            if row:
                return {"username": "posted", "is_active": "on", "brands": brands}
            role = Group.objects.get(name="Recruiter").pk
            return {"email": "posted@example.org", "role": role, "brands": brands, "language": "en"}
    return texts.get(model, posted)


# --- stored rows ----------------------------------------------------------------------------


def stored() -> dict[str, list[tuple]]:
    """All rows that a request could have changed:
    our tables and the accounts, without the access log.
    """
    found = {}
    with connection.cursor() as cursor:
        for label, sql in _statements().items():
            cursor.execute(sql)
            found[label] = cursor.fetchall()
    return found


@cache
def _statements() -> dict[str, str]:
    """The statement that reads each table. To build them takes longer than to execute them."""
    models = (
        m for app in APPS for m in apps.get_app_config(app).get_models(include_auto_created=True)
    )
    return {m._meta.label: str(_values(m).query) for m in models if m is not AccessLog}


def _values(model: Any, **wanted: Any) -> Any:
    columns = [f.attname for f in model._meta.concrete_fields if f.name != "last_login"]
    return model._base_manager.filter(**wanted).order_by("pk").values_list(*columns)


def stored_of(world: SimpleNamespace) -> dict[str, list[tuple]]:
    """All rows of the other brand, and what it publishes."""
    vacancies = world.foreign_pks["vacancies.vacancy"]
    of_form = world.foreign_pks["forms_structure.form"] + [world.default.pk, world.shared.pk]
    of_contact = [world.foreign.contact.pk]
    own = {
        "vacancies.Vacancy": {"brand": world.foreign.brand},
        "vacancies.Brand": {"pk": world.foreign.brand.pk},
        "vacancies.BrandLink": {"brand": world.foreign.brand},
        "applications.BrandMail": {"brand": world.foreign.brand},
        "applications.Tag": {"brand": world.foreign.brand},
        "vacancies.Brand_members": {"brand": world.foreign.brand},
        "vacancies.VacancyTemplate": {"brand": world.foreign.brand},
        "vacancies.Recruiter": {"pk__in": of_contact},
        "forms_structure.ConsentText": {"brand_number": world.foreign.brand.pk},
        "forms_structure.Form": {"pk__in": of_form},
        "forms_structure.Snapshot": {"form__in": of_form},
        "applications.Application": {"vacancy__in": vacancies},
        "applications.Token": {"user": world.foreign.applicant},
        "auth.User": {},
        "auth.User_groups": {},
        "applications.AccessLog": {"application": world.foreign.application.pk},
    }
    for name in (
        *("VacancyOption", "VacancyRecruiter", "Place", "Attachment", "Version", "Approval"),
        "Requisition",
    ):
        own[f"vacancies.{name}"] = {"vacancy__in": vacancies}
    for name in (
        *(
            "StageChange",
            "VacancyChange",
            "HistoryEntry",
            "Note",
            "Scorecard",
            "Message",
            "Origin",
            "ConsentRequest",
        ),
        "ApplicationTag",
    ):
        own[f"applications.{name}"] = {"application__vacancy__in": vacancies}
    found = {label: list(_values(apps.get_model(label), **wanted)) for label, wanted in own.items()}
    served = Vacancy.objects.with_form().filter(brand=world.foreign.brand).order_by("pk")
    found["served"] = list(served.values_list("pk", "served_form_id"))
    found["gone"] = sorted(set(vacancies) - set(Vacancy.objects.values_list("pk", flat=True)))
    return found


def version_of(pk: Any) -> int:
    """The number of the first version of the vacancy `pk`, or 0."""
    return (
        Version.objects.filter(vacancy=pk).order_by("pk").values_list("pk", flat=True).first() or 0
    )

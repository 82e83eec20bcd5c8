"""Factories of applicants and applications."""

import json
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from applications import tokens
from applications.models import (
    Application,
    FormSnapshot,
    HistoryEntry,
    Message,
    MessageFile,
    Stage,
    StageChange,
    Status,
    Submission,
    SubmissionFile,
)
from jobsite import private_files
from tests.factories import make_vacancy

PASSWORD = "correct horse battery staple"
MINE = "/v1/user/applications"

_numbers = count(1)


def make_user(name: str = "", **values: Any) -> User:
    return User.objects.create_user(
        name or f"applicant{next(_numbers)}", password=PASSWORD, **values
    )


def make_token(user: User, lifetime: timedelta = timedelta(days=30)) -> str:
    """Return a valid token of `user`."""
    return tokens.issue(user=user, lifetime=lifetime)[1]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def signed_in(user: User) -> Client:
    """Return a client with a session of `user`."""
    client = Client()
    client.force_login(user)
    return client


def make_stage(name: str = "", *, embargo_days: int = 0, **labels: str) -> Stage:
    """A stage whose applicants read `labels` (en="...", nl="..."), by default
    a status of its own.
    """
    name = name or f"Stage {next(_numbers)}"
    labels = labels or {"en": f"Status of {name}"}
    status = Status.objects.create(**{f"label_{code}": text for code, text in labels.items()})
    return Stage.objects.create(name=name, status=status, embargo_days=embargo_days, position=100)


def stage_of_kind(kind: str) -> Stage:
    """The initial stage of `kind`. The flush after a live-server test deletes the rows of the
    migration, so a missing stage is created.
    """
    stage = Stage.objects.filter(kind=kind).first()
    if stage is None:
        stage = make_stage(kind.title(), en=kind.title())
        Stage.objects.filter(pk=stage.pk).update(kind=kind)
    return stage


def make_application(
    *, user: User | None = None, vacancy: Any = None, stage: Stage | None = None, **values: Any
) -> Application:
    """Create an application from an hour ago in `stage`."""
    at: datetime = values.pop("created_at", None) or timezone.now() - timedelta(hours=1)
    application = Application.objects.create(
        user=user or make_user(),
        vacancy=vacancy or make_vacancy(),
        **{"created_at": at, "updated_at": at} | values,
    )
    StageChange.objects.create(application=application, stage=stage or make_stage(), at=at)
    return application


def make_step(application: Application, name: str = "Interview", **values: Any) -> HistoryEntry:
    at = application.created_at
    defaults = {"planned_at": at, "created_at": at, "updated_at": at, "is_visible": True}
    return HistoryEntry.objects.create(application=application, name=name, **defaults | values)


def _field(name: str, type_: str, label: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "label": label, "required": True} | values


SECTIONS: list[dict[str, Any]] = [
    {
        "title": "Personal data",
        "description": None,
        "fields": [
            _field("first_name", "text", "First name"),
            _field("email", "email", "E-mail address"),
            _field("phone", "tel", "Telephone number", required=False),
        ],
    },
    {
        "title": "",
        "description": None,
        "fields": [
            _field(
                "experience",
                "radio-group",
                "Do you have experience?",
                options=[
                    {"name": "experience", "value": "yes", "label": "Yes, I have"},
                    {"name": "experience", "value": "no", "label": "No"},
                ],
                conditional=[_field("where", "textarea", "Where?", on_value="yes")],
            ),
            _field("cv", "file", "Your CV", required=False),
            _field("privacy_consent", "checkbox", "I agree.", version=3),
        ],
    },
]


def make_submission(
    application: Application, values: dict[str, Any], sections: Any = None, **columns: Any
) -> Submission:
    """Add a submission to `application`, of a form with `sections` (SECTIONS)."""
    sections = SECTIONS if sections is None else sections
    digest = sha256(json.dumps(sections).encode()).hexdigest()
    snapshot = FormSnapshot.objects.get_or_create(digest=digest, defaults={"sections": sections})[0]
    defaults: dict[str, Any] = {
        "consent_text": "I agree.",
        "consent_version": 3,
        "consented_at": application.created_at,
        "fingerprint": str(next(_numbers)),
    }
    return Submission.objects.create(
        application=application, values=values, snapshot=snapshot, **defaults | columns
    )


def make_file(
    owner: Submission | Message, name: str = "cv.pdf", content: bytes | None = None, **columns: Any
) -> Any:
    """Add a row of a file to `owner`, and the file itself if it has `content`."""
    number = next(_numbers)
    path = f"{number:032x}"
    defaults = {"path": path, "size": 1234, "sha256": f"{number}", "kind": "pdf"}
    if content is not None:
        private_files.write(path, [content])
        defaults |= {"size": len(content), "sha256": sha256(content).hexdigest()}
    values = {"original_name": name, **defaults}
    if isinstance(owner, Message):
        return MessageFile.objects.create(message=owner, **values | columns)
    columns = {"field": "cv"} | columns
    return SubmissionFile.objects.create(submission=owner, **values | columns)

"""Factories of applicants and applications."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from applications import tokens
from applications.models import Application, HistoryEntry, Stage, StageChange, Status
from tests.factories import make_vacancy

PASSWORD = "correct horse battery staple"
MINE = "/v1/user/applications"

_numbers = count(1)


def make_user(name: str = "", **values: Any) -> User:
    return User.objects.create_user(name or f"applicant{next(_numbers)}", password=PASSWORD, **values)


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
    """A stage whose applicants read `labels` (en="...", nl="..."), by default a status of its own."""
    name = name or f"Stage {next(_numbers)}"
    labels = labels or {"en": f"Status of {name}"}
    status = Status.objects.create(**{f"label_{code}": text for code, text in labels.items()})
    return Stage.objects.create(name=name, status=status, embargo_days=embargo_days, position=100)


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

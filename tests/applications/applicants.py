"""Applications of people without an account, and their stages."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from applications.models import Application, Stage, StageChange
from applications.models.application import new_reference
from applications.querysets import folded_address
from tests.applications.makers import make_file, make_stage, make_submission
from tests.factories import make_vacancy

ADDRESS = "mia@example.org"
VALUES = {
    "first_name": "Mia",
    "experience": "yes",
    "where": "Ghent\nand <b>Leuven</b>",
    "cv": "cv.pdf",
}


def make_anonymous(
    address: str = ADDRESS, *, stage: Stage | None = None, **columns: Any
) -> Application:
    """Create an application from `address` that came through a form an hour ago, with a CV. It
    belongs to no account, unless `user` is given. Its address is confirmed, unless `verified_at` is
    None.
    """
    at = timezone.now() - timedelta(hours=1)
    defaults: dict[str, Any] = {
        "vacancy": columns.get("vacancy") or make_vacancy(),
        "reference": new_reference(),
        "given_name": "Mia",
        "family_name": "Maes",
        "email": address,
        "email_folded": folded_address(address),
        "language": "en",
        "verified_at": at,
        "created_at": at,
        "updated_at": at,
    }
    application = Application.objects.create(**defaults | columns)
    StageChange.objects.create(application=application, stage=stage or make_stage(), at=at)
    make_file(make_submission(application, {**VALUES, "email": address}))
    return application


def stages_of(application: Application) -> list[str]:
    return [change.stage.name for change in application.changes.select_related("stage")]

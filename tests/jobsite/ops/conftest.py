import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection

from tests.applications.makers import make_application, make_file, make_step, make_submission
from tests.contract.sample import make_site
from tests.jobsite.ops.backups import Site


@pytest.fixture
def site(wsgi: Any, settings: Any, filters: Any) -> Site:
    # Not above: a conftest can be loaded before the settings, which the module changes for its
    # process.
    from jobsite.wsgi import _bare

    settings.RESPONSE_CACHE_MB = 16
    vacancies = make_site()
    vacancies[0].attachments.create(
        position=9, name="Brochure", file=ContentFile(b"%PDF-1", "brochure.pdf")
    )
    application = make_application(vacancy=vacancies[1])
    make_step(application)
    file = make_file(make_submission(application, {"cv": "cv.pdf"}), content=b"%PDF-2 private")
    make_file(file.submission, content=b"%PDF-3 private")
    return Site(_bare, application.user)


@pytest.fixture
def elsewhere(tmp_path: Path, settings: Any) -> Iterator[Callable[[], None]]:
    """Return a function that switches to a new machine, without tables and files."""
    original, name = connection.settings_dict["NAME"], f"jobsite_elsewhere_{os.getpid()}"

    def go() -> None:
        if connection.vendor == "postgresql":
            with connection._nodb_cursor() as cursor:
                cursor.execute(f"CREATE DATABASE {name}")
        connection.close()
        folder = tmp_path / "elsewhere"
        connection.settings_dict["NAME"] = (
            str(folder / "db.sqlite3") if connection.vendor == "sqlite" else name
        )
        settings.MEDIA_ROOT, settings.PRIVATE_ROOT = folder / "media", folder / "private"

    yield go
    connection.close()
    connection.settings_dict["NAME"] = original
    if connection.vendor == "postgresql":
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")

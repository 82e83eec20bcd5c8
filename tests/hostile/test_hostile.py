"""A part of the hostile requests, sent to one gunicorn; `python -m tests.hostile` sends all."""

import pytest
from django.db import connection

from tests.hostile import content as hostile_content
from tests.hostile.checker import send_cases
from tests.hostile.client import Endpoint
from tests.hostile.corpus import corpus
from tests.hostile.downloads import download_files
from tests.hostile.generated import send_generated
from tests.hostile.server import gunicorn

EACH = 40  # every 40th case of the admin, whose pages are slow
SLOW = ("many ", "20 MB", "25,000", "1 MB", "base64, blanks", "waits")


@pytest.mark.slow("starts gunicorn, sends 900 requests")
@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
def test_hostile_requests_get_allowed_responses(settings, tmp_path):
    # The server must accept sessions made here.
    settings.SECRET_KEY = hostile_content.ENV["SECRET_KEY"]
    content = hostile_content.create()
    with gunicorn(tmp_path, url(), workers=1) as server:
        endpoint = Endpoint(server.port)
        cases = corpus(content)
        quick = [case for case in cases if not any(word in case.name for word in SLOW)]
        public = [case for case in quick if case.group != "admin"]
        admin = [case for case in cases if case.group == "admin"][::EACH]
        chosen = [case for n, case in enumerate(public) if n % 4 == 0 or case.is_baseline]
        reports = [
            send_cases(chosen, content, endpoint),
            send_cases(admin, content, endpoint),
            download_files(content, endpoint),
            send_generated(420, 7, content, endpoint),
        ]

    assert [failed for report in reports for failed in report.failed] == []
    assert sum(report.requests for report in reports) > 900


def url() -> str:
    """The URL of the test database, for another process."""
    if connection.vendor == "sqlite":
        return f"sqlite:///{connection.settings_dict['NAME']}"
    values = connection.settings_dict
    return "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**values)

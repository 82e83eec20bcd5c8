"""The chaos harness finds each submission and each file that a site acknowledged and lost."""

import pytest

from applications.models import Application, SubmissionFile
from jobsite import private_files
from tests.applications.makers import make_application, make_file, make_submission
from tests.chaos.applicants import Applicants, Site
from tests.chaos.stored_submissions import lost
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db


def test_each_acknowledged_submission_or_file_that_is_lost_is_reported(settings, tmp_path):
    settings.PRIVATE_ROOT = tmp_path / "private"
    applicants = Applicants(1, 9, 1, Site([make_vacancy().pk], "version"), 1)
    for number in range(9):  # 0, 3 and 6 sent a file
        sent = applicants.site.application(number)
        application = make_application(user=None, email=sent.email, reference=f"R-{number}")
        submission = make_submission(application, sent.values)
        if sent.content:
            make_file(submission, content=sent.content)
        applicants.references[number] = f"R-{number}"
    assert list(lost(applicants)) == []

    Application.objects.filter(reference__in=["R-1", "R-4"]).delete()
    Application.objects.filter(reference="R-2").update(email="other@example.org")
    first, second, _ = SubmissionFile.objects.order_by("pk")
    private_files.delete([first.path])
    second.delete()
    gone, changed = "lost after its 201", "its file is lost after its 201"
    expected = {0: changed, 1: gone, 2: gone, 3: changed, 4: gone}
    assert list(lost(applicants)) == [
        f"submission {number}: {text}" for number, text in expected.items()
    ]

"""Constraints, slugs, and the state of a vacancy at a given time."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from vacancies.fields import free_value
from vacancies.models import Attachment, Vacancy, VacancyOption

pytestmark = pytest.mark.django_db


def test_database_refuses_invalid_rows(at):
    vacancy = make_vacancy(options={"regions": ["Ghent"]})
    rows = Vacancy.objects.filter(pk=vacancy.pk)
    attach = partial(Attachment.objects.create, vacancy=vacancy, name="a")
    for write in (
        partial(rows.update, head_recruiter=None),
        partial(rows.update, publish_from=None),
        partial(rows.update, audience="nobody"),
        partial(rows.update, status="gone"),
        partial(make_vacancy, publish_from=at, publish_until=at),
        attach,  # no file
        partial(attach, file="a.pdf", url="https://example.org/a.pdf"),  # two
        partial(
            VacancyOption.objects.create, vacancy=vacancy, option=make_option("regions", "Ghent")
        ),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            write()


def test_rows_in_use_cannot_be_deleted():
    vacancy = make_vacancy(options={"regions": ["Ghent"]}, recruiters=("Bo",))

    for used in (
        make_brand(),
        vacancy.head_recruiter,
        make_recruiter("Bo"),
        make_option("regions", "Ghent"),
    ):
        with pytest.raises(ProtectedError):
            used.delete()


def test_slug_is_ascii_and_ends_with_the_id():
    for title, slug in {
        "Nurse (nights), GS-5": "nurse-nights-gs-5-(7)",
        "  Ingénieur  système ": "ingenieur-systeme-(7)",
        "C++ / C#": "c-c-(7)",
        "看護師": "(7)",
        "🚑 !!": "(7)",
        "Straßenbauer (m/w/d)": "strassenbauer-m-w-d-(7)",
        "Windows/Desktop": "windows-desktop-(7)",
        "R&D": "r-d-(7)",
        "Łódź œuvre": "lodz-oeuvre-(7)",
        "Đặng Ægir Þór": "dang-aegir-thor-(7)",
        "Infirmier·ère": "infirmierere-(7)",
        "Infirmier(ère)": "infirmierere-(7)",
        "Bäcker(m/w/d)": "backer-m-w-d-(7)",
        "Cook,baker;waiter•host": "cook-baker-waiter-host-(7)",
        "Ghent–Bruges": "ghent-bruges-(7)",
        "C++ | A\\B": "c-a-b-(7)",
        "Chargé d’affaires": "charge-daffaires-(7)",
        "Node.js": "nodejs-(7)",
        "日本語 / &": "(7)",
    }.items():
        assert Vacancy(pk=7, title=title).slug == slug


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ({"status": "draft"}, "draft"),
        ({"status": "unpublished"}, "unpublished"),
        ({"publish_from": timedelta(seconds=1)}, "scheduled"),
        ({"publish_from": timedelta(0)}, "published"),
        ({"publish_until": timedelta(seconds=1)}, "published"),
        ({"publish_until": timedelta(0)}, "expired"),
    ],
)
def test_state_agrees_with_the_published_queryset(at, values, state):
    moments = {name: at + value for name, value in values.items() if isinstance(value, timedelta)}
    assert make_vacancy(**{"status": "published"} | values | moments).state == state
    assert Vacancy.objects.published().exists() == (state == "published")


def test_option_values_are_numbered_when_taken():
    assert free_value("Full-time", set()) == "full-time"
    assert free_value("FULL TIME", {"full-time"}) == "full-time-2"
    assert free_value("full time", {"full-time", "full-time-2"}) == "full-time-3"
    assert free_value("日本", set()) == "option"

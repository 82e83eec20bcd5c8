"""Times of the hour that daylight saving time repeats or skips, in every form of the admin."""

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import models
from django.forms import ValidationError
from django.http import HttpRequest
from django.test import Client

from applications.models import Application
from jobsite.admin.datetime_fields import ZonedDateTimeField
from tests.applications.makers import make_application, make_step
from tests.factories import make_vacancy
from tests.vacancies.admin.forms import errors, opened, page, posted_by, saved
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db

# In Brussels, the clock shows 02:30 twice on 25 October 2026, and never on 29 March 2026.
FIRST = datetime(2026, 10, 25, 0, 30, 15, 123456, tzinfo=UTC)
SECOND = FIRST + timedelta(hours=1)
AMBIGUOUS = (
    "25 Oct 2026 at 02:30 is ambiguous in the time zone Europe/Brussels: the clocks are put back "
    "and show this time twice. Choose which of the two you mean."
)
MISSING = (
    "29 Mar 2026 at 02:30 does not exist in the time zone Europe/Brussels: the clocks are put "
    "forward and skip this time. Choose another time, for instance 01:30 or 03:30."
)
LEGEND = "The clocks show 02:30 twice on this day:"


@pytest.fixture(autouse=True)
def brussels(settings: Any) -> None:
    settings.TIME_ZONE = "Europe/Brussels"


@pytest.fixture
def anna(client: Client, filters: Any) -> Client:
    client.force_login(User.objects.create_superuser("anna"))
    return client


def typed(day: str, time: str, name: str = "publish_from") -> dict[str, str]:
    return {f"{name}_0": day, f"{name}_1": time}


def stored(vacancy: Vacancy) -> datetime | None:
    return Vacancy.objects.values_list("publish_from", flat=True).get(pk=vacancy.pk)


def test_field_reads_local_times() -> None:
    for value, expected in (
        (["2026-10-25", "02:30:15", "0"], FIRST.replace(microsecond=0)),
        (["2026-10-25", "02:30:15", "1"], SECOND.replace(microsecond=0)),
        # Left over from 02:30.
        (["2026-10-25", "03:30", "0"], datetime(2026, 10, 25, 2, 30, tzinfo=UTC)),
        (["2026-10-25", "01:59:59", ""], datetime(2026, 10, 24, 23, 59, 59, tzinfo=UTC)),
        (["2026-07-01", "02:30", "1"], datetime(2026, 7, 1, 0, 30, tzinfo=UTC)),
        (["2026-03-29", "03:00", ""], datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),
    ):
        assert ZonedDateTimeField().clean(value) == expected
    for value, code in (
        (["2026-10-25", "02:30", ""], "ambiguous"),
        (["2026-10-25", "02:30", "2"], "ambiguous"),
        (["2026-03-29", "02:30", ""], "missing"),
        (["2026-03-29", "02:30", "1"], "missing"),
        (["", "", ""], "required"),
        (["", "", "1"], "required"),
    ):
        with pytest.raises(ValidationError) as caught:
            ZonedDateTimeField().clean(value)
        assert [error.code for error in caught.value.error_list] == [code], value

    refuse = Mock(side_effect=ValidationError("refused", code="refused"))
    with pytest.raises(ValidationError, match="refused"):
        ZonedDateTimeField(validators=[refuse]).clean(["2026-10-25", "02:30", "0"])


def test_every_datetime_field_of_the_admin_is_a_zoned_datetime_field(rf: Any) -> None:
    request: HttpRequest = rf.get("/")
    request.user = User.objects.create_superuser("root")  # type: ignore[assignment]
    pages = [(label, page) for label, page in admin.site._registry.items()]
    pages += [
        (label, inline) for label, page in pages for inline in page.get_inline_instances(request)
    ]
    seen = {}
    for label, each in pages:
        for field in each.model._meta.get_fields():
            if isinstance(field, models.DateTimeField) and field.editable:
                seen[f"{label._meta.label}: {field}"] = type(
                    each.formfield_for_dbfield(field, request)
                )

    assert seen == dict.fromkeys(seen, ZonedDateTimeField)
    assert seen.keys() >= {
        "auth.User: auth.User.date_joined",
    }


@pytest.mark.slow("opens several pages of the admin")
@pytest.mark.parametrize("moment", [FIRST, SECOND])
def test_vacancy_with_a_repeated_time_is_saved_unchanged(anna: Client, moment: datetime) -> None:
    vacancy = make_vacancy(publish_from=moment)
    posted = posted_by(anna.get(page(vacancy)).text)
    assert posted["publish_from_1"] == "02:30:15"
    without_choice = {name: value for name, value in posted.items() if name != "publish_from_2"}

    assert saved(anna.post(page(vacancy), without_choice | {"title": "Another title"}))
    assert stored(vacancy) == moment

    again = posted_by(anna.get(page(vacancy)).text) | {"location": "Ghent"}
    assert again["publish_from_2"] == str(int(moment == SECOND))
    assert saved(anna.post(page(vacancy), again))
    assert stored(vacancy) == moment

    other = posted_by(anna.get(page(vacancy)).text) | {"publish_from_2": str(int(moment == FIRST))}
    assert saved(anna.post(page(vacancy), other))
    assert stored(vacancy) == (SECOND if moment == FIRST else FIRST).replace(microsecond=0)


@pytest.mark.slow("opens several pages of the admin")
def test_new_repeated_time_asks_which_and_keeps_what_was_typed(anna: Client) -> None:
    vacancy = make_vacancy()
    was, posted = stored(vacancy), opened(anna, page(vacancy)) | {"title": "Typed title"}
    assert "publish_from_2" not in posted

    missing = anna.post(page(vacancy), posted | typed("2026-03-29", "02:30"))
    assert errors(missing) == {"publish_from": [MISSING]}
    assert LEGEND not in missing.text

    posted |= typed("2026-10-25", "02:30:15")
    refused = anna.post(page(vacancy), posted)
    assert errors(refused) == {"publish_from": [AMBIGUOUS]}
    assert stored(vacancy) == was
    html = refused.text
    assert html.count(LEGEND) == 1
    assert [text for text in ('value="Typed title"', 'value="02:30:15"') if text not in html] == []
    assert not any(f'name="publish_from_2" value="{each}" checked' in html for each in (0, 1))
    assert saved(anna.post(page(vacancy), posted | {"publish_from_2": "1"}))
    vacancy.refresh_from_db()
    assert (vacancy.publish_from, vacancy.title) == (SECOND.replace(microsecond=0), "Typed title")


def test_task_keeps_and_asks_for_a_repeated_time(anna: Client) -> None:
    application = make_application()
    step = make_step(application, "Talk", planned_at=SECOND)
    url = f"/admin/applications/application/{application.pk}/task/"
    posted = posted_by(anna.get(f"{url}?entry={step.pk}").text)
    assert posted["planned_at_2"] == "1"

    assert saved(anna.post(f"{url}?entry={step.pk}", posted | {"result": "Fine"}))
    step.refresh_from_db()
    assert (step.planned_at, step.result) == (SECOND, "Fine")

    posted = {"name": "Second talk", "result": ""} | typed("2026-10-25", "02:30", "planned_at")
    refused = anna.post(url, posted)
    found = refused.status_code, AMBIGUOUS in refused.text, "Second talk" in refused.text
    assert found == (422, True, True)
    assert saved(anna.post(url, posted | {"planned_at_2": "0"}))
    planned = Application.objects.get().history.order_by("pk").values_list("planned_at", flat=True)
    assert list(planned) == [SECOND, FIRST.replace(second=0, microsecond=0)]


def test_publishing_on_a_repeated_time_asks_which(anna: Client, time_machine: Any) -> None:
    time_machine.move_to(datetime(2026, 10, 1, tzinfo=UTC), tick=False)
    vacancy = make_vacancy(status="draft", publish_from=None)
    anna.force_login(User.objects.get(username="anna"))
    url, ambiguous = (
        f"/admin/vacancies/vacancy/{vacancy.pk}/schedule/",
        typed("2026-10-25", "02:30"),
    )

    refused = anna.post(url, ambiguous)
    assert refused.context["form"].errors == {"publish_from": [AMBIGUOUS]}
    assert LEGEND in refused.text
    missing = anna.post(url, typed("2027-03-28", "02:30"))
    assert "does not exist in the time zone Europe/Brussels" in missing.text
    assert saved(anna.post(url, ambiguous | {"publish_from_2": "1"}))

    assert stored(vacancy) == SECOND.replace(second=0, microsecond=0)

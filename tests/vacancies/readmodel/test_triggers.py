"""What one statement changes in the read model."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone

from tests.factories import make_vacancy
from tests.vacancies.readmodel.helpers import on_postgresql
from vacancies.models import (
    Attachment,
    BucketCount,
    ListedVacancy,
    Place,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)

pytestmark = [on_postgresql, pytest.mark.django_db, pytest.mark.usefixtures("filters")]


GHENT = {"locality": "Ghent", "country": "BE"}


def test_child_row_that_moves_changes_both_vacancies() -> None:
    unchanged = {}
    for model in (VacancyOption, VacancyRecruiter, Attachment, Place):
        source = make_vacancy(options={"regions": ["Ghent"]}, recruiters=("Bo",), places=(GHENT,))
        Attachment.objects.create(vacancy=source, name="Terms", url="https://x.test/a.pdf")
        target = make_vacancy()
        ListedVacancy.objects.update(row_version=0)
        rows: Any = model._default_manager.filter(vacancy=source)
        rows.update(vacancy=target)
        same = ListedVacancy.objects.filter(row_version=0, vacancy__in=(source, target))
        unchanged[model.__name__] = list(same.values_list("vacancy", flat=True))

    assert unchanged == {"VacancyOption": [], "VacancyRecruiter": [], "Attachment": [], "Place": []}


def test_expired_vacancy_is_in_no_total() -> None:
    make_vacancy()
    until = timezone.now() - timedelta(minutes=30)
    expired = make_vacancy(publish_until=until)

    def total() -> int:
        return BucketCount.objects.aggregate(total=Sum("external"))["total"]

    totals = {"inserted": total()}
    Vacancy.objects.filter(pk=expired.pk).update(publish_until=until - timedelta(minutes=1))
    totals["updated"] = total()
    expired.delete()
    totals["deleted"] = total()

    assert totals == {"inserted": 1, "updated": 1, "deleted": 1}

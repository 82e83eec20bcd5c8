"""generate_vacancies."""

import pytest
from django.utils import timezone

from jobsite.demo import content
from tests.vacancies.commands import run
from vacancies.models import Brand, Place, Vacancy, VacancyOption, VacancyText

pytestmark = pytest.mark.django_db


@pytest.mark.slow("creates 150 vacancies")
@pytest.mark.each_database
def test_generated_vacancies_are_published_and_varied(client, filters, at, settings):
    settings.TEXT_LANGUAGES = ["fr"]
    code, summary, _ = run("generate_vacancies", 150, "--seed", 7)

    assert code == 0
    assert summary.startswith("Created 150 vacancies in ")
    assert Vacancy.objects.published().count() == Vacancy.objects.count() == 150
    assert {v.audience for v in Vacancy.objects.all()} == {"public", "internal", "both"}
    assert len(set(Vacancy.objects.values_list("title", flat=True))) > 60
    assert VacancyText.objects.filter(language="fr", is_ready=True).count() == 150
    assert not VacancyText.objects.outdated()
    assert client.get("/v1/filters").json()["data"][0]["options"]
    assert Vacancy.objects.filter(search_text__contains="mentor").exists()
    assert {v.work_place for v in Vacancy.objects.all()} == {"", "onsite", "hybrid", "remote"}
    assert {v.pay_period for v in Vacancy.objects.all()} == {"", "hour", "month", "year"}
    assert not Place.objects.filter(kind="site", latitude=None).exists()
    assert run("lint_vacancies")[0] == 0


@pytest.mark.slow("generates vacancies")
def test_generated_vacancies_are_the_same_for_the_same_seed(filters, at):
    columns = (
        "title",
        "description",
        "publish_from",
        "audience",
        "location",
        "work_place",
        "pay_min",
    )

    def generated():
        Vacancy.objects.all().delete()
        run("generate_vacancies", 20, "--seed", 3)
        run("generate_vacancies", 1, "--seed", 3)  # has other references
        labels = VacancyOption.objects.order_by("vacancy", "position").values_list(
            "option__label", flat=True
        )
        return list(Vacancy.objects.order_by("pk").values_list(*columns)), list(labels)

    assert generated() == generated()


@pytest.mark.slow("loads the demo")
def test_demo_is_loaded_after_generated_vacancies():
    run("generate_vacancies", 1)
    made = content.load(at=timezone.now())
    assert (made["brands"], made["vacancies"]) == (0, Vacancy.objects.count() - 1)
    assert {brand.name for brand in Brand.objects.all()} == {
        row["name"] for row in content.read()["brands"]
    }

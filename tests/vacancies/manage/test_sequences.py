"""Random sequences, and several clients at once."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.factories import make_brand, make_recruiter
from tests.parallel import at_once
from tests.vacancies.manage.client import Api, make_integration
from tests.vacancies.manage.sequences import Sequence
from vacancies.history.versions import read_content, replay
from vacancies.models import Recruiter, Vacancy, Version
from vacancies.operations.save import Edit, save_content


@pytest.mark.django_db
@pytest.mark.parametrize(
    "seeds",
    [
        range(4),
        pytest.param(range(4, 25), marks=pytest.mark.slow("many requests")),
        pytest.param(range(25, 50), marks=pytest.mark.slow("many requests")),
    ],
)
def test_random_sequences_equal_the_model(seeds, settings):
    settings.INTEGRATION_RATE = "off"
    for seed in seeds:
        Sequence(seed).run()


@pytest.mark.slow("several clients at once")
@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
def test_clients_that_create_and_change_one_vacancy_while_a_recruiter_edits_it(settings):
    settings.INTEGRATION_RATE = "off"
    make_brand("Acme")
    make_recruiter("An Peeters", email="an@acme.example")
    integration = make_integration()
    api = Api(integration)
    person = User.objects.create_user("recruiter")

    def write(number: int) -> list[int]:
        people = [{"email": "bo@acme.example", "name": "Bo"}]
        return [
            api.put("A-1", {"title": f"{number}.{n}", "recruiters": people}).status_code
            for n in range(3)
        ]

    def edit() -> list[int]:
        for n in range(6):
            if vacancy := Vacancy.objects.first():
                edit = Edit({"location": f"own {n}"})
                save_content(vacancy, edit, author=person, at=timezone.now())
        return []

    found = at_once(*(lambda n=n: write(n) for n in range(8)), edit)
    statuses = [status for each in found for status in each]
    assert (statuses.count(201), statuses.count(200)) == (1, 23), statuses
    vacancy = Vacancy.objects.get()
    assert Recruiter.objects.filter(email="bo@acme.example").count() == 1
    assert replay(Version.objects.filter(vacancy=vacancy.pk)) == read_content(vacancy)

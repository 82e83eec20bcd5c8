"""`check_contract --manage` on a running service."""

import json

import pytest
from django.core.management import call_command

from tests.factories import make_brand, make_option, make_vacancy
from tests.vacancies.manage.client import Api, make_integration, row_counts
from vacancies.models import IntegrationToken


@pytest.mark.slow("starts a server")
@pytest.mark.django_db(transaction=True)
def test_the_own_service_conforms_and_nothing_is_written(live_server, capsys):
    make_option("regions", "Ghent")
    for number in range(3):
        make_vacancy(brand=make_brand("Acme"), reference=f"A-{number}")
    token = Api(make_integration()).token
    IntegrationToken.objects.update(last_used_at="2099-01-01T00:00:00Z")
    before = row_counts()
    words = ("--manage", "acme", "--token", token, "--format", "json")
    call_command("check_contract", live_server.url, *words)
    report = json.loads(capsys.readouterr().out)
    assert (report["breaches"], report["skipped"]) == ([], [])
    assert report["checks"] > 30
    assert row_counts() == before


@pytest.mark.slow("starts a server")
@pytest.mark.django_db(transaction=True)
def test_a_refused_token_is_a_breach(live_server, capsys):
    make_brand("Acme")
    words = ("--manage", "acme", "--token", "x", "--format", "json")
    with pytest.raises(SystemExit):
        call_command("check_contract", live_server.url, *words)
    assert json.loads(capsys.readouterr().out)["breaches"]

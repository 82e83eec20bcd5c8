"""The OpenAPI document of the management interface: valid, complete, and true of the responses."""

import json
import subprocess
import sys
from typing import Any

import pytest
from django.urls import get_resolver
from jsonschema import Draft202012Validator

from jobsite.api.docs import _document
from tests.factories import make_option
from vacancies.api import schema
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import Audience, Keyword, PayPeriod, State, WorkPlace
from vacancies.manage.items import ManagedVacancySerializer
from vacancies.manage.parsing import BodySerializer
from vacancies.manage.views import document
from vacancies.models import IntegrationScope

ADDRESS = "https://jobs.example.com"
DOCUMENT = document(ADDRESS)
SCHEMAS = DOCUMENT["components"]["schemas"]


def check(name_or_schema: Any, value: object) -> None:
    whole = name_or_schema | {"components": DOCUMENT["components"]}
    Draft202012Validator(whole).validate(value)


def stated(path: str, method: str, status: int) -> Any:
    response = DOCUMENT["paths"][path][method]["responses"][str(status)]
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
    [content] = response["content"].values()
    return content["schema"]


def test_it_has_each_key_value_and_scope():
    assert SCHEMAS["VacancyBody"]["properties"].keys() == BodySerializer().fields.keys()
    item = SCHEMAS["ManagedVacancy"]["properties"]
    assert tuple(item) == ManagedVacancySerializer.Meta.fields
    for name in VacancySerializer.Meta.fields:
        if name not in ("head_recruiter", "published_at"):  # a draft may have none
            assert item[name] == schema.VACANCY[name]
    body = SCHEMAS["VacancyBody"]["properties"]
    assert body["audience"]["enum"] == Audience.values
    assert body["work_place"]["enum"] == [*WorkPlace.values, "", None]
    assert body["pay"]["properties"]["period"]["enum"] == [*PayPeriod.values, "", None]
    [state, _after] = DOCUMENT["paths"]["/v1/manage/{brand}/vacancies"]["get"]["parameters"]
    assert state["schema"]["enum"] == State.values
    text = json.dumps(DOCUMENT)
    assert [
        scope
        for scope in (IntegrationScope.READ, IntegrationScope.WRITE)
        if f"`{scope}`" not in text
    ] == []


def test_it_has_each_path_and_the_public_document_has_none():
    [manage] = [each for each in get_resolver().url_patterns if str(each.pattern) == "v1/manage/"]
    routes = {
        str(each.pattern).replace("str:", "").replace("int:", "") for each in manage.url_patterns
    }
    wanted = {route.replace("<", "{").replace(">", "}") for route in routes - {"openapi.json"}}
    assert {path.removeprefix("/v1/manage/") for path in DOCUMENT["paths"]} == wanted
    assert "manage" not in json.dumps(list(_document(ADDRESS)["paths"]))


@pytest.mark.slow("generates a client")
def test_a_client_can_be_generated_from_it(tmp_path):
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "config.json").write_text('{"post_hooks": []}')
    words = "-m openapi_python_client generate --fail-on-warning --meta none --path openapi.json"
    command = [sys.executable, *words.split(), "--output-path", "made", "--config", "config.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    made = (tmp_path / "made/api/default/put_vacancy.py").read_text()
    assert "dry_run" in made


@pytest.mark.django_db
def test_responses_are_as_it_says(api, body, client):
    make_option("regions", "Ghent")
    one, many = "/v1/manage/{brand}/vacancies/{reference}", "/v1/manage/{brand}/vacancies"
    check(SCHEMAS["VacancyBody"], body)
    for sent, status in ((body, 201), (body, 200), ({"titel": 1}, 400), ({"regions": ["x"]}, 422)):
        answer = api.put("A-1", sent)
        assert answer.status_code == status
        check(stated(one, "put", status), answer.json())
    check(stated(one, "get", 200), api.get("vacancies/A-1").json())
    check(stated(one, "get", 404), api.get("vacancies/A-2").json())
    api.put("A-2", {"title": "Draft"})
    check(stated(one, "put", 200), api.put("A-3", {"title": "A"}, "?dry_run=true").json())
    check(stated(many, "get", 200), api.get("vacancies").json())
    check(stated(many, "get", 400), api.get("vacancies?since=1").json())
    values = api.get("values").json()
    check(stated("/v1/manage/{brand}/values", "get", 200), values)
    assert values["data"]["options"].keys() == set(Keyword.values)
    assert client.get("/v1/manage/openapi.json").json()["paths"] == DOCUMENT["paths"]

"""The OpenAPI document: valid, complete, and in agreement with the endpoints."""

import json
import re

import jsonschema
import pytest
from django.core.management import call_command
from django.test import override_settings
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from applications.api.v1 import ApplicationSerializer, HistoryEntrySerializer
from forms_structure.api import v1 as forms
from forms_structure.choices import FieldType, Width
from jobsite.api import docs, document
from tests import node as node_tools
from tests.applications.makers import MINE, PASSWORD, make_application, make_user
from tests.contract.sample import make_site
from vacancies.access.previews import token_for
from vacancies.api import serializers, v0_1
from vacancies.api.v1.serializers import FilterSerializer, OptionSerializer, VacancySerializer
from vacancies.choices import Fact, Keyword
from vacancies.models import Vacancy

DOCUMENT = json.loads(json.dumps(docs._document("")))
OPERATIONS = {
    path: methods["get"] for path, methods in DOCUMENT["paths"].items() if "get" in methods
}
CACHED = {"ETag", "Cache-Control", "Vary", "Allow"}


def schema_of(name: str) -> dict:
    return DOCUMENT["components"]["schemas"][name]


def validator(schema: dict) -> jsonschema.protocols.Validator:
    """Return a validator for a schema of the document, with its references."""
    resource = Resource.from_contents(DOCUMENT, default_specification=DRAFT202012)
    registry = Registry().with_resource("urn:openapi", resource)

    def absolute(node):
        if isinstance(node, dict):
            return {
                key: f"urn:openapi{value}" if key == "$ref" else absolute(value)
                for key, value in node.items()
            }
        return [absolute(member) for member in node] if isinstance(node, list) else node

    return jsonschema.Draft202012Validator(absolute(schema), registry=registry)


def walk(node, path=()):
    """Yield every dict of the document with its path."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from walk(value, (*path, key))
    elif isinstance(node, list):
        for position, value in enumerate(node):
            yield from walk(value, (*path, position))


@pytest.mark.slow("validates the whole document")
def test_document_is_openapi_31(capsys):
    assert DOCUMENT["openapi"] == "3.1.0"
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json")
    assert json.loads(capsys.readouterr().out) == DOCUMENT

    used = {node["$ref"] for _, node in walk(DOCUMENT) if "$ref" in node}
    components = DOCUMENT["components"]
    known = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses", "headers")
        for name in components[kind]
    }
    assert used == known


def test_document_is_public_and_needs_no_database(client, settings):
    settings.RATE_LIMIT = "1/h"  # it is not limited
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    response = client.get(
        "/openapi.json", headers={"Authorization": "Bearer stale", "Host": "localhost"}
    )
    assert response["Content-Type"] == "application/json"
    guide = {"description": "The guide, with examples", "url": "http://localhost/docs/api.md"}
    assert response.json() == DOCUMENT | {
        "servers": [{"url": "http://localhost"}],
        "externalDocs": guide,
    }
    same = {"If-None-Match": response["ETag"], "Host": "localhost"}
    assert client.get("/openapi.json", headers=same).status_code == 304
    other = client.get("/openapi.json", headers={"Host": "127.0.0.1:8101"})
    assert other.json()["servers"] == [{"url": "http://127.0.0.1:8101"}]

    assert DOCUMENT["servers"] == [{"url": "/"}]
    settings.ALLOWED_HOSTS, settings.PUBLIC_BASE_URL = (
        ["testserver"],
        "https://jobs.example.org/site",
    )
    assert client.get("/openapi.json").json()["servers"] == [
        {"url": "https://jobs.example.org/site"}
    ]
    assert client.head("/openapi.json").content == b""
    assert client.post("/openapi.json").status_code == 405
    assert {client.get("/docs").status_code for _ in range(2)} == {200}

    # Its policy: tests/jobsite/middleware/test_security_headers.py.
    html = client.get("/docs").text
    assert "<title>Vacancies of the job site</title>" in html
    assert [scheme for scheme in ("http://", "https://") if scheme in html] == []
    script = client.get("/docs?script=").text
    assert [text for text in ('"validatorUrl": null', "openapi.json") if text not in script] == []


def test_document_links_to_the_guide_with_the_address_of_this_site(client):
    address = client.get("/openapi.json").json()["externalDocs"]["url"]
    assert address == "http://testserver/docs/api.md"
    response = client.get(address)
    assert "### Sending a submission" in response.text
    assert "curl -gs 'http://testserver/v1/vacancies?page[size]=20" in response.text
    assert (response["Content-Type"], client.post(address).status_code) == (
        "text/plain; charset=utf-8",
        405,
    )
    assert "127.0.0.1:8000" not in response.text


def test_info_describes_the_api(settings):
    info, paths = DOCUMENT["info"], DOCUMENT["paths"]
    newest = max(int(path.split("/")[1].removeprefix("v").split(".")[0]) for path in paths)
    assert info["version"] == document.DOCUMENT_VERSION
    assert info["version"].split(".")[0] == str(newest)
    words = {
        "page[size]",
        "filter[regions]",
        "RFC 9457",
        "If-None-Match",
        "Authorization: Bearer",
        "HEAD",
        "OPTIONS",
    }
    assert {word for word in words if word not in info["description"]} == set()

    reserved = {"name": "All rights reserved", "identifier": "LicenseRef-All-rights-reserved"}
    terms = "https://example.org/terms"
    for licence, shown_licence, contact, shown in (
        ("", reserved, "", {}),
        (
            "CC0-1.0",
            {"name": "CC0-1.0", "identifier": "CC0-1.0"},
            "a@example.org",
            {"email": "a@example.org"},
        ),
        (
            terms,
            {"name": "Terms of use", "url": terms},
            "https://example.org/@api",
            {"url": "https://example.org/@api"},
        ),
    ):
        settings.API_LICENSE, settings.API_CONTACT = licence, contact
        info = SchemaGenerator().get_schema(public=True)["info"]
        assert (info["license"], info["contact"]) == (
            shown_licence,
            {"name": "Operator of this site", **shown},
        )


@pytest.mark.slow("runs linters of npm")
def test_linters_report_nothing(tmp_path):
    """About the document of a site with a public base URL."""
    node_tools.require()
    file = tmp_path / "openapi.json"
    file.write_bytes(docs._body("", "https://jobs.example.org"))
    done = node_tools.run(
        "redocly", "lint", "--extends", "recommended-strict", "--format", "json", file
    )
    assert (done.returncode, json.loads(done.stdout)["problems"]) == (0, []), done.stderr
    ruleset = ("--ruleset", "spectral.yaml", "--fail-severity", "hint")
    done = node_tools.run("spectral", "lint", *ruleset, "--format", "json", "--quiet", file)
    assert (done.returncode, json.loads(done.stdout)) == (0, []), done.stderr


def test_every_path_is_documented_in_full():
    """With an operation id that is unique and stable."""
    routes = {
        f"/{part.pattern}{str(route.pattern).strip('^$').replace('(?P<pk>[^/]+)', '{id}')}"
        for part in get_resolver().url_patterns
        if getattr(part, "namespace", None) in ("v1", "v0_1")
        for route in part.url_patterns
    }
    assert set(DOCUMENT["paths"]) == routes
    assert [OPERATIONS[path]["operationId"] for path in sorted(OPERATIONS)] == [
        "listVacanciesV0_1",
        "listInternalVacanciesV0_1",
        "listFilters",
        "listMyApplications",
        "listVacancies",
        "listVacancyChanges",
        "listHotVacancies",
        "listHotInternalVacancies",
        "listInternalVacancies",
        "listInternalVacancyChanges",
        "getVacancy",
        "getVacancyForm",
        "getVacancyFormSchema",
    ]

    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    optional, required = [{}, {"bearer": []}, {"session": []}], [{"bearer": []}, {"session": []}]
    for path, operation in OPERATIONS.items():
        assert operation["summary"], path
        assert operation["description"], path
        assert set(operation["tags"]) <= tags, path
        expected = {"200", "304", "400", "405", "406", "429", "500", "503"}
        expected |= {"401", "403"} if "/internal" in path else set()
        expected |= {"410"} if path.endswith("/changes") else set()
        if path == MINE:  # private: no ETag, so no 304
            expected = expected - {"304"} | {"401"}
        expected |= {"404"} if "{id}" in path else set()
        assert set(operation["responses"]) == expected, path
        headers = set(operation["responses"]["200"]["headers"])
        assert headers >= CACHED - ({"ETag"} if path == MINE else set()), path
        assert (headers >= {"Deprecation", "Sunset", "Link"}) == path.startswith("/v0.1/"), path
        is_for_insiders = "/internal" in path or "{id}" in path
        security = required if path == MINE else optional if is_for_insiders else []
        assert operation["security"] == security, path
        for parameter in operation["parameters"]:
            assert parameter["description"], path
            if parameter["schema"]["type"] == "array":
                assert (parameter["style"], parameter["explode"]) == ("form", False), path


def test_every_field_and_error_has_a_description_and_a_valid_example():
    responses = dict(DOCUMENT["components"]["responses"])
    assert "content" not in responses.pop("NotModified")
    for name, response in responses.items():
        content = response["content"]["application/problem+json"]
        assert content["schema"] == {"$ref": "#/components/schemas/Problem"}, name
        assert content["examples"], name
    for name, schema in DOCUMENT["components"]["schemas"].items():
        for key, field in {} if name.endswith(("Page", "List")) else schema["properties"].items():
            assert field["description"], (name, key)
            assert field["examples"], (name, key)

    checked = 0
    for path, node in walk(DOCUMENT):
        if path[-1:] == ("properties",) or "examples" not in node:
            continue
        if "schema" in node:
            examples = [(node["schema"], example["value"]) for example in node["examples"].values()]
        else:
            examples = (
                [(node, example) for example in node["examples"]]
                if {"type", "$ref", "anyOf"} & set(node)
                else []
            )
        for schema, example in examples:
            validator(schema).validate(example)
            checked += 1
    assert checked > 100
    for path, operation in OPERATIONS.items():
        content = operation["responses"]["200"]["content"]["application/json"]
        if path.endswith(("vacancies", "hot", "internal")):
            item = content["examples"]["A page"]["value"]["data"][0]
            assert list(item) == list(
                schema_of("VacancyV0_1" if "v0.1" in path else "Vacancy")["properties"]
            )


def test_every_key_of_a_serializer_is_documented():
    of_vacancies = (VacancySerializer, v0_1.VacancySerializer, ApplicationSerializer)
    optional = {serializer: {"brand", "attachments"} for serializer in of_vacancies}
    optional[forms.FormFieldSerializer] = {"options", "conditional", "on_value", "link", "version"}
    for serializer in (
        serializers.BrandSerializer,
        serializers.AttachmentSerializer,
        serializers.RecruiterSerializer,
        FilterSerializer,
        OptionSerializer,
        HistoryEntrySerializer,
        forms.SectionSerializer,
        forms.FormFieldSerializer,
        forms.OptionSerializer,
        forms.FormSchemaSerializer,
        *of_vacancies,
    ):
        name, _, fields = serializer.documentation
        is_form = serializer.__module__.startswith("forms_structure")
        keys = list(serializer().fields if is_form else serializer.Meta.fields)
        assert list(schema_of(name)["properties"]) == keys
        assert schema_of(name)["required"] == [
            key for key in keys if key not in optional.get(serializer, ())
        ]
        assert keys == list(fields) if is_form else set(keys) <= set(fields)


def test_application_has_all_keys_of_a_vacancy_and_three_more(settings):
    """Interface 2.7. The document once had only the three keys. A sparse vacancy requires none."""
    vacancy, application, sparse = map(schema_of, ("Vacancy", "Application", "SparseVacancy"))
    own = ["status", "is_spontaneous", "history"]
    assert list(application["properties"]) == [*vacancy["properties"], *own]
    assert application["required"] == [*vacancy["required"], *own]
    assert application["properties"].items() >= vacancy["properties"].items()
    settings.APPLICATION_HISTORY = False
    assert ApplicationSerializer().keys == [*vacancy["properties"], *own[:2]]

    assert (sparse["properties"], "required" in sparse) == (vacancy["properties"], False)
    items = schema_of("VacancyPage")["properties"]["data"]["items"]["anyOf"]
    assert items == [
        {"$ref": f"#/components/schemas/{name}"} for name in ("Vacancy", "SparseVacancy")
    ]


def test_open_lists_allow_new_values_and_form_fields_no_other_keys():
    for name, key, values in (
        ("FormField", "type", FieldType.values),
        ("FormField", "css", Width.values),
        ("Filter", "keyword", [*Keyword.values, *Fact.values]),
    ):
        described = schema_of(name)["properties"][key]
        valid = validator(described).is_valid
        assert described["x-extensible-enum"] == values, (name, key)
        assert [valid(each) for each in (*values, "yet-to-come", None)] == [True] * (
            len(values) + 1
        ) + [False]

    field = {"name": "a", "type": "text", "label": "A", "required": True, "css": "col-12"}
    wrong = {
        "name": ["1st", None],
        "label": ["", {"name": "x", "type": "textarea", "label": "X"}, {"name": "x", "label": "X"}],
        "required": ["yes"],
        "options": [[], [{"value": "x", "label": "X"}]],
        "conditional": [[], [{}], [field]],
        "link": [{"url": "https://example.com"}, {"label": "X", "url": "/privacy"}],
        "version": [0],
    }
    schema = validator(schema_of("FormField"))
    assert schema.is_valid(field)
    accepted = [
        {key: v}
        for key, values in wrong.items()
        for v in values
        if schema.is_valid(field | {key: v})
    ]
    assert accepted == []


VALUES = {
    "page[size]": "2",
    "page[number]": "1",
    "sort": "title",
    "fields": "id,title",
    "filter[search]": "naval",
    **{f"filter[{keyword}]": "a,b" for keyword in [*Keyword, *Fact]},
    "filter[brand]": "harbour-works",
    "filter[near]": "51.2,4,30",
}


@pytest.fixture
def _site(db):
    make_site()


@pytest.mark.slow("many requests")
@pytest.mark.usefixtures("_site")
def test_documented_parameters_are_the_accepted_ones(client):
    pk = str(Vacancy.objects.published().external().first().pk)
    values = VALUES | {"preview": token_for(int(pk))}
    for path, operation in OPERATIONS.items():
        address = path.replace("{id}", pk)
        documented = {p["name"] for p in operation["parameters"] if p["in"] == "query"}
        own = (
            {"since": client.get(address).json()["meta"]["cursor"]} if "since" in documented else {}
        )
        accepted = {
            n
            for n, value in (values | own).items()
            if client.get(address, {n: value}).status_code == 200
        }
        if client.get(address, {"preview": "wrong"}).status_code == 200:
            accepted.remove("preview")  # ignored, like any name outside the families
        assert documented == accepted, path


@pytest.mark.usefixtures("_site")
def test_links_of_the_summary_for_programs_lead_somewhere(client):
    text = client.get("/llms.txt").content.decode()
    found = re.findall(r"\]\(http://testserver(/[^)]*)\)", text)
    assert len(found) == 5
    assert [client.get(path).status_code for path in found] == [200] * 5
    assert len(text.splitlines()) <= 20


@pytest.mark.usefixtures("_site")
def test_links_lead_from_a_list_to_the_submission(client):
    described = {each["operationId"]: (path, each) for path, each in OPERATIONS.items()}
    found, reached = [("/v1/vacancies", described["listVacancies"][1])], set()
    for address, operation in found:  # grows
        body = client.get(address).json()
        for link in operation["responses"]["200"].get("links", {}).values():
            [expression] = link["parameters"].values()
            pk = (
                address.split("/")[3] if expression == "$request.path.id" else body["data"][0]["id"]
            )
            assert expression in ("$request.path.id", "$response.body#/data/0/id")
            if link["operationId"] not in reached and link["operationId"] in described:
                path, linked = described[link["operationId"]]
                found.append((path.replace("{id}", str(pk)), linked))
            reached.add(link["operationId"])
    assert reached == {"getVacancy", "getVacancyForm", "getVacancyFormSchema", "submitApplication"}


@pytest.mark.slow("many cases")
@pytest.mark.usefixtures("_site")
def test_responses_match_the_document(client):
    """Of every operation, and forms of every kind."""
    published = list(Vacancy.objects.published().values_list("pk", flat=True))
    pk = Vacancy.objects.published().external().first().pk
    applicant = make_application(vacancy=Vacancy.objects.earliest("pk")).user
    sections = set()
    for path in sorted(OPERATIONS, key=lambda path: path == MINE):
        if path == MINE:
            client.force_login(applicant)
        documented = OPERATIONS[path]["responses"]["200"]
        schema = validator(documented["content"]["application/json"]["schema"])
        headers = CACHED & set(documented["headers"]) - ({"ETag"} if path == MINE else set())
        for each in published if "/form" in path else [pk]:
            response = client.get(path.replace("{id}", str(each)))
            schema.validate(response.json())
            assert {header for header in headers if not response.has_header(header)} == set(), path
            if path.endswith("/form"):
                sections.add(len(response.json()["data"]))
    # The sample has a form of a vacancy that extends its brand's, a form of a brand, and none.
    assert sections == {1, 2, 3}


def test_every_operation_may_be_unavailable():
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            assert operation["responses"]["503"] == {
                "$ref": "#/components/responses/Unavailable"
            }, (
                path,
                method,
            )
    assert "Retry-After" in DOCUMENT["components"]["responses"]["Unavailable"]["headers"]


def test_submission_without_files_may_be_json():
    submit = DOCUMENT["paths"]["/v1/vacancies/{id}/applications"]["post"]["requestBody"]["content"]
    assert list(submit) == ["multipart/form-data", "application/json"]
    part = submit["multipart/form-data"]["schema"]["properties"]["application"]
    assert submit["application/json"]["schema"] == part
    [example] = submit["application/json"]["examples"].values()
    validator(part).validate(example["value"])


@pytest.mark.django_db
def test_errors_match_the_document(client, at):
    for status, path, headers, changed in (
        (400, "/v1/vacancies?page[size]=abc", {}, {}),
        (401, "/v0.1/vacancies/internal", {}, {"INTERNAL_ACCESS": "authenticated"}),
        (403, "/v0.1/vacancies/internal", {}, {"INTERNAL_ACCESS": "network"}),
        (404, "/v1/vacancies/1000000", {}, {}),
        (404, "/v1/vacancies/1000000/form", {}, {}),
        (404, "/v1/vacancies/1000000/form/schema", {}, {}),
        (405, "/v1/vacancies", {}, {}),
        (406, "/v1/vacancies", {"Accept": "text/html"}, {}),
        (429, "/v1/vacancies", {}, {"RATE_LIMIT": "1/h"}),
    ):
        with override_settings(**changed):
            if status == 429:
                client.get(path)
            response = (client.post if status == 405 else client.get)(path, headers=headers)
        assert (response.status_code, response["Content-Type"]) == (
            status,
            "application/problem+json",
        ), path
        documented = DOCUMENT["components"]["responses"][document.SHARED[status][0]]
        validator(documented["content"]["application/problem+json"]["schema"]).validate(
            response.json()
        )
        assert all(response.has_header(header) for header in documented["headers"]), path


def test_token_operations_match_the_document(client, db):
    """Schemathesis has neither a correct password nor too many wrong ones."""
    methods = DOCUMENT["paths"]["/v1/auth/token"]
    described = {method: (each["operationId"], each["tags"]) for method, each in methods.items()}
    tags = ["Applications"]
    assert described == {"post": ("createToken", tags), "delete": ("revokeToken", tags)}
    make_user("jane")
    credentials = [("jane", PASSWORD), ("", "x"), *[("jane", "x")] * 10]
    bodies = [{"username": name, "password": password} for name, password in credentials]
    answers = [
        client.post("/v1/auth/token", body, content_type="application/json") for body in bodies
    ]
    assert [answer.status_code for answer in answers] == [200, 400, *[401] * 9, 429]
    validator(methods["post"]["requestBody"]["content"]["application/json"]["schema"]).validate(
        bodies[0]
    )
    for answer in answers:
        documented = methods["post"]["responses"][str(answer.status_code)]
        if "$ref" in documented:
            documented = DOCUMENT["components"]["responses"][documented["$ref"].rpartition("/")[2]]
        validator(documented["content"][answer["Content-Type"]]["schema"]).validate(answer.json())
        assert all(answer.has_header(header) for header in documented.get("headers", ()))
    token = answers[0].json()["data"]["token"]
    ended = client.delete("/v1/auth/token", headers={"Authorization": f"Bearer {token}"})
    assert str(ended.status_code) in methods["delete"]["responses"]

"""Application forms of the vacancies that lists show, and the JSON Schema that some deployments add."""

from collections.abc import Collection, Iterable
from typing import Any

from jobsite.contract import shapes
from jobsite.contract.lists import SIZE, expect_problem
from jobsite.contract.service import Answer, Service

PATH = "/v1/vacancies/{id}/form"
VERSION = "Form-Version"
MOST = 20  # forms looked at


def spread(ids: Collection[Any]) -> list[Any]:
    """At most MOST of `ids`, evenly from first to last."""
    return list(ids)[:: -(-len(ids) // MOST) or 1]


def check(service: Service, ids: Iterable[Any]) -> bool:
    """Look at the forms of the vacancies `ids`. Returns whether the service has schemas of forms."""
    has_schemas = False
    for id_ in ids:
        answer = _ask(service, id_)
        body = answer.json()
        is_form = answer.status == 200 and isinstance(body, dict) and isinstance(body.get("data"), list)
        if not service.report.expect(
            is_form, PATH, "200 with {data: list} for a listed vacancy", f"{answer.status} for {id_}"
        ):
            continue
        service.report.expect(list(body) == ["data"], PATH, "nothing but data", list(body))
        for expected, received in shapes.form(body["data"]):
            service.report.expect(False, PATH, expected, received)
        service.report.checks += len(body["data"]) * len(shapes.FIELD)
        has_schemas |= _check_schema(service, id_, answer)
    return has_schemas


def _ask(service: Service, id_: Any, suffix: str = "") -> Answer:
    return service.ask(f"/v1/vacancies/{id_}/form{suffix}", with_token=True)


def _check_schema(service: Service, id_: Any, form: Answer) -> bool:
    """Look at the schema that belongs to `form`. Returns whether there is one: not every deployment has."""
    report, path = service.report, f"{PATH}/schema"
    answer = _ask(service, id_, "/schema")
    if answer.status == 404:
        report.skip(f"{path}: this service has none.")
        return False
    body = answer.json()
    data: Any = body.get("data") if isinstance(body, dict) else None
    is_one = answer.status == 200 and isinstance(data, dict)
    if not report.expect(is_one, path, "200 with {data: object}", answer.status):
        return True
    findings = list(shapes.shape(data, shapes.FORM_SCHEMA, "data"))
    for expected, received in findings:
        report.expect(False, path, expected, received)
    if findings:
        return True
    dialect = data["schema"].get("$schema")
    report.expect(dialect == shapes.DIALECT, path, f"the $schema {shapes.DIALECT}", dialect)
    version = answer.headers.get(VERSION)
    report.expect(version == data["version"], path, f"{VERSION} to be the version in the body", version)
    if form.headers.get(VERSION) != version:
        form = _ask(service, id_)  # it may have been saved between the two
    shown = form.headers.get(VERSION)
    report.expect(shown == version, PATH, f"{VERSION} to be that of the schema", f"{shown}, not {version}")
    return True


def edges(service: Service, id_: Any, unknown: Iterable[str]) -> None:
    """Parameters that a form refuses, and ids that no form has."""
    answer = service.ask(f"/v1/vacancies/{id_}/form", {SIZE: "1"}, with_token=True)
    expect_problem(service.report, PATH, answer, 400, f"?{SIZE}=1", parameter=SIZE)
    for text in unknown:
        for suffix in ("", "/schema"):
            expect_problem(service.report, f"{PATH}{suffix}", _ask(service, text, suffix), 404, f"id {text}")

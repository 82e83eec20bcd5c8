"""Checks of the application forms of listed vacancies, and of their JSON Schemas, which are optional."""

from collections.abc import Collection, Iterable
from typing import Any

from jobsite.contract import shapes
from jobsite.contract.lists import SIZE, expect_problem
from jobsite.contract.service import Response, Service

PATH = "/v1/vacancies/{id}/form"
VERSION = "Form-Version"
FORMS_MAX = 20  # forms that are checked


def spread(ids: Collection[Any]) -> list[Any]:
    """Return at most FORMS_MAX of `ids`, evenly spread."""
    return list(ids)[:: -(-len(ids) // FORMS_MAX) or 1]


def check(service: Service, ids: Iterable[Any]) -> bool:
    """Check the forms of the vacancies `ids`. Return whether the service has JSON Schemas."""
    has_schemas = False
    for id_ in ids:
        response = _request(service, id_)
        body = response.json()
        is_form = response.status == 200 and isinstance(body, dict) and isinstance(body.get("data"), list)
        if not service.report.expect(
            is_form, PATH, "200 with {data: list} for a listed vacancy", f"{response.status} for {id_}"
        ):
            continue
        service.report.expect(list(body) == ["data"], PATH, "nothing but data", list(body))
        for expected, received in shapes.form(body["data"]):
            service.report.expect(False, PATH, expected, received)
        service.report.checks += len(body["data"]) * len(shapes.FIELD)
        _check_apply(service, id_, response)
        has_schemas |= _check_schema(service, id_, response)
    return has_schemas


def _request(service: Service, id_: Any, suffix: str = "") -> Response:
    return service.request(f"/v1/vacancies/{id_}/form{suffix}", with_token=True)


def _check_apply(service: Service, id_: Any, form: Response) -> None:
    """Check the header Apply of `form`. It is absent if the vacancy does not accept applications here."""
    apply = form.headers.get("Apply")
    if apply is not None:
        path = f"/v1/vacancies/{id_}/applications"
        is_one = apply.startswith(("http://", "https://")) and apply.endswith(path)
        service.report.expect(is_one, PATH, "Apply to be the absolute URL of its applications", apply)


def _check_schema(service: Service, id_: Any, form: Response) -> bool:
    """Check the JSON Schema of `form`. Return whether there is one."""
    report, path = service.report, f"{PATH}/schema"
    response = _request(service, id_, "/schema")
    if response.status == 404:
        report.skip(f"{path}: this service has none.")
        return False
    body = response.json()
    data: Any = body.get("data") if isinstance(body, dict) else None
    is_one = response.status == 200 and isinstance(data, dict)
    if not report.expect(is_one, path, "200 with {data: object}", response.status):
        return True
    findings = list(shapes.shape(data, shapes.FORM_SCHEMA, "data"))
    for expected, received in findings:
        report.expect(False, path, expected, received)
    if findings:
        return True
    dialect = data["schema"].get("$schema")
    report.expect(dialect == shapes.DIALECT, path, f"the $schema {shapes.DIALECT}", dialect)
    version = response.headers.get(VERSION)
    report.expect(version == data["version"], path, f"{VERSION} to be the version in the body", version)
    if form.headers.get(VERSION) != version:
        form = _request(service, id_)  # it may have changed between the two requests
    other = form.headers.get(VERSION)
    report.expect(other == version, PATH, f"{VERSION} to be that of the schema", f"{other}, not {version}")
    return True


def edges(service: Service, id_: Any, unknown: Iterable[str]) -> None:
    """Check that parameters are 400, and unknown ids 404."""
    response = service.request(f"/v1/vacancies/{id_}/form", {SIZE: "1"}, with_token=True)
    expect_problem(service.report, PATH, response, 400, f"?{SIZE}=1", parameter=SIZE)
    for text in unknown:
        for suffix in ("", "/schema"):
            expect_problem(
                service.report, f"{PATH}{suffix}", _request(service, text, suffix), 404, f"id {text}"
            )

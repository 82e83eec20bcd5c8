"""Checks of the application forms of listed vacancies, and of their JSON Schemas, which are
optional.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from jobsite.contract.document import SchemaDifference, findings, properties
from jobsite.contract.lists import SIZE, expect_problem
from jobsite.contract.service import CheckedService, Response
from jobsite.types import JsonObject

PATH = "/v1/vacancies/{id}/form"
VERSION = "Form-Version"
FORMS_MAX = 20  # forms that are checked
LEVELS = ["0", "1", "2", "3", "4", "5"]
WITH_OPTIONS = ("select", "range", "checkbox-group")


def spread(ids: Collection[object]) -> list[object]:
    """Return at most FORMS_MAX of `ids`, evenly spread."""
    return list(ids)[:: -(-len(ids) // FORMS_MAX) or 1]


def check(service: CheckedService, ids: Iterable[object]) -> bool:
    """Check the forms of the vacancies `ids`. Return whether the service has JSON Schemas."""
    has_schemas = False
    for id_ in ids:
        response = _request(service, id_)
        sections = service.expect_list(PATH, response, f"the listed vacancy {id_}")
        if sections is None:
            continue
        sound = [
            section
            for section in sections
            if service.report.expect_none(PATH, findings("FormSection", section, "section"))
        ]
        service.report.expect_none(PATH, _rules(sound))
        if not sections or sections[-1] in sound:
            service.report.expect_none(PATH, _consent(sections))
        service.report.checks += len(sections) * len(properties("FormField"))
        _check_apply(service, id_, response)
        has_schemas |= _check_schema(service, id_, response)
    return has_schemas


def _request(service: CheckedService, id_: object, suffix: str = "") -> Response:
    return service.request(f"/v1/vacancies/{id_}/form{suffix}", with_token=True)


def _check_apply(service: CheckedService, id_: object, form: Response) -> None:
    """Check the header Apply of `form`.
    It is absent if the vacancy does not accept applications here.
    """
    apply = form.headers.get("Apply")
    if apply is not None:
        path = f"/v1/vacancies/{id_}/applications"
        is_one = apply.startswith(("http://", "https://")) and apply.endswith(path)
        service.report.expect(
            is_one, PATH, "Apply to be the absolute URL of its applications", apply
        )


def _check_schema(service: CheckedService, id_: object, form: Response) -> bool:
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
    report.expect_none(path, findings("FormSchema", data, "data"))
    version = response.headers.get(VERSION)
    report.expect(
        version == data.get("version"), path, f"{VERSION} to be the version in the body", version
    )
    if form.headers.get(VERSION) != version:
        form = _request(service, id_)  # it may have changed between the two requests
    other = form.headers.get(VERSION)
    report.expect(
        other == version, PATH, f"{VERSION} to be that of the schema", f"{other}, not {version}"
    )
    return True


def edges(service: CheckedService, id_: object, unknown: Iterable[str]) -> None:
    """Check that parameters are 400, and unknown ids 404."""
    response = service.request(f"/v1/vacancies/{id_}/form", {SIZE: "1"}, with_token=True)
    expect_problem(service.report, PATH, response, 400, f"?{SIZE}=1", parameter=SIZE)
    for text in unknown:
        for suffix in ("", "/schema"):
            expect_problem(
                service.report,
                f"{PATH}{suffix}",
                _request(service, text, suffix),
                404,
                f"id {text}",
            )


def _rules(sections: list[JsonObject]) -> Iterator[SchemaDifference]:
    """Yield the violations of rules that the OpenAPI document does not state."""
    names: list[str] = []
    for section in sections:
        for field in section["fields"]:
            yield from _field_rules(field, names)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        yield SchemaDifference("each name once in the whole form, label inputs included", twice)


def _consent(sections: list[JsonObject]) -> Iterator[SchemaDifference]:
    last = sections[-1]["fields"][-1:] if sections else []
    if not last or (last[0]["type"], last[0]["required"]) != ("checkbox", True):
        yield SchemaDifference(
            "the consent, a required checkbox, as the last field of the last section", last
        )


def _field_rules(
    field: JsonObject, names: list[str], owner: JsonObject | None = None
) -> Iterator[SchemaDifference]:
    """Yield the violations of a field, which depends on `owner`, and of its conditional fields."""
    name, label, options = field["name"], field["label"], field.get("options", [])
    names.append(name)
    if isinstance(label, dict):
        names.append(label["name"])
        if field["type"] != "range":
            yield SchemaDifference(
                "an object with a text input as the label of a range only", field
            )
    if field["type"] in WITH_OPTIONS and not options:
        yield SchemaDifference(f"options for {field['type']}", field)
    if any(option["name"] != name for option in options):
        yield SchemaDifference("options with the name of their field", field)
    values = [option["value"] for option in options]
    if len(set(values)) < len(values):
        yield SchemaDifference("each option of a field once", values)
    if field["type"] == "range" and values != LEVELS:
        yield SchemaDifference(f"the options {', '.join(LEVELS)} for range, in this order", values)
    if owner is None and "on_value" in field:
        yield SchemaDifference("no on_value but for a conditional field", field)
    if owner is not None:
        chosen = (
            ["1"]
            if owner["type"] == "checkbox"
            else [each["value"] for each in owner.get("options", [])]
        )
        if field.get("on_value") not in chosen:
            yield SchemaDifference(
                'on_value to be a value of the field that it depends on (a checkbox: "1")', field
            )
    for each in field.get("conditional", []):
        yield from _field_rules(each, names, field)

"""Checks of the management interface of one brand. Everything that would write is a dry run."""

import json
from collections.abc import Callable

from jobsite.contract.lists import SAMPLE
from jobsite.contract.service import CheckedService
from jobsite.types import JsonObject

DOCUMENT = "/v1/manage/openapi.json"


def steps(service: CheckedService, brand: str) -> dict[str, Callable[[], object]]:
    """Return the checks of `brand`, "-" for vacancies without one, by name in their order."""
    base = f"/v1/manage/{brand}"
    return {
        DOCUMENT: lambda: service.load_document(DOCUMENT),
        f"{base}/values": lambda: service.get(f"{base}/values"),
        f"{base}/vacancies": lambda: _vacancies(service, f"{base}/vacancies"),
    }


def _vacancies(service: CheckedService, path: str) -> None:
    service.get(path, {"nope": "1"}, 400, "?nope=1")
    for token in ("", "Bearer x"):
        service.get(path, "", 401, "no valid token", headers={"Authorization": token})
    service.get(f"{path}/no-such-reference~", "", 404, "an unknown reference")
    listed = service.get(path) or {"data": ()}
    own = [each for each in listed["data"] if each and each["address"]]
    if not own:
        service.report.skipped.append(f"{path}: no vacancy has a reference.")
    for item in own[:SAMPLE]:
        _dry_runs(service, f"{path}/{item['reference']}", item)


def _dry_runs(service: CheckedService, path: str, item: JsonObject) -> None:
    single = service.get(path)
    if single:
        same = {**single["data"], "address": item["address"]} == item
        service.expect(same, path, "the item of the list", single["data"]["id"])
    sent: tuple[tuple[JsonObject, int], ...] = (
        ({}, 200),
        ({"title": 5}, 422),
        ({"titel": ""}, 400),
    )
    for body, status in sent:
        how = {"method": "PUT", "body": json.dumps(body).encode()}
        answer = service.get(path, {"dry_run": "true"}, status, json.dumps(body), **how)
        if answer and status == 200:
            service.expect(answer["changed"] == [], path, "no change", answer["changed"])

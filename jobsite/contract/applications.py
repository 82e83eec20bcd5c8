"""Checks of /v1/user/applications: private, never cached, and of the token's user."""

import re
from typing import Any

from jobsite.contract import shapes
from jobsite.contract.lists import expect_problem
from jobsite.contract.service import Response, Service

PATH = "/v1/user/applications"
PLANNED_AT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", re.ASCII)


def check(service: Service) -> None:
    """Check without credentials, with invalid ones, and with the token of `service` if it has one."""
    for cause, headers in (
        ("no credential", {}),
        ("a wrong token", {"Authorization": "Bearer 0123456789abcdef"}),
        ("a malformed credential", {"Authorization": "Bearer"}),
    ):
        _expect_closed(service, service.request(PATH, headers=headers), cause)
    if not service.token:
        return
    response = service.request(PATH, with_token=True)
    if not service.report.expect(response.status == 200, PATH, "200 for the token", response.status):
        return
    _expect_private(service, response)
    body = response.json()
    items: Any = body.get("data") if isinstance(body, dict) else None
    if not service.report.expect(
        isinstance(items, list) and list(body) == ["data"], PATH, "{data: list} and nothing else", body
    ):
        return
    for item in items:
        for expected, received in shapes.shape(item, shapes.APPLICATION):
            service.report.expect(False, PATH, expected, received)
        for step in item.get("history", ()) if isinstance(item, dict) else ():
            for expected, received in shapes.shape(step, shapes.STEP, "step"):
                service.report.expect(False, PATH, expected, received)
            planned = step.get("planned_at") if isinstance(step, dict) else None
            is_exact = isinstance(planned, str) and PLANNED_AT.fullmatch(planned) is not None
            service.report.expect(is_exact, PATH, "planned_at with three digits of milliseconds", planned)
    service.report.checks += len(items) * len(shapes.APPLICATION)


def _expect_closed(service: Service, response: Response, cause: str) -> None:
    if expect_problem(service.report, PATH, response, 401, cause):
        challenge = response.headers.get("WWW-Authenticate", "")
        service.report.expect(
            challenge.startswith("Bearer"), PATH, "401 with WWW-Authenticate: Bearer", challenge
        )
        _expect_private(service, response)


def _expect_private(service: Service, response: Response) -> None:
    header = response.headers.get("Cache-Control", "")
    service.report.expect("no-store" in header, PATH, "Cache-Control: no-store", header)

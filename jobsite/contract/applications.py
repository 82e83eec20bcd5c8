"""Checks of /v1/user/applications: private, never cached, and of the token's user."""

from jobsite.contract.document import findings, properties
from jobsite.contract.lists import expect_problem
from jobsite.contract.service import CheckedService, Response

PATH = "/v1/user/applications"


def check(service: CheckedService) -> None:
    """Check without credentials, with invalid ones, and with the token of
    `service` if it has one.
    """
    for cause, headers in (
        ("no credential", {}),
        ("a wrong token", {"Authorization": "Bearer 0123456789abcdef"}),
        ("a malformed credential", {"Authorization": "Bearer"}),
    ):
        _expect_closed(service, service.request(PATH, headers=headers), cause)
    if not service.token:
        return
    response = service.request(PATH, with_token=True)
    if not service.report.expect(
        response.status == 200, PATH, "200 for the token", response.status
    ):
        return
    _expect_private(service, response)
    if (items := service.expect_list(PATH, response)) is None:
        return
    for item in items:
        service.report.expect_none(PATH, findings("Application", item, "item"))
    service.report.checks += len(items) * len(properties("Application"))


def _expect_closed(service: CheckedService, response: Response, cause: str) -> None:
    if expect_problem(service.report, PATH, response, 401, cause):
        challenge = response.headers.get("WWW-Authenticate", "")
        service.report.expect(
            challenge.startswith("Bearer"), PATH, "401 with WWW-Authenticate: Bearer", challenge
        )
        _expect_private(service, response)


def _expect_private(service: CheckedService, response: Response) -> None:
    header = response.headers.get("Cache-Control", "")
    service.report.expect("no-store" in header, PATH, "Cache-Control: no-store", header)

"""Requests that schemathesis generates from the document of the management interface: each answer
is one that the document states, and none is a failure of the server.
"""

import os
from functools import cache
from typing import Any

import hypothesis
import pytest

from jobsite.wsgi import application
from tests.applications.makers import make_application, make_submission
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from tests.vacancies.manage.client import Api, make_integration
from vacancies.manage.views import document

pytestmark = [pytest.mark.slow("sends generated requests"), pytest.mark.django_db]
CASES = int(os.environ.get("SCHEMATHESIS_CASES", "40"))
METHODS = ("get", "put", "delete")
OPERATIONS = [
    (path, method)
    for path, item in document("")["paths"].items()
    for method in METHODS
    if method in item
]


@cache
def load_schema() -> Any:
    # imported here, as in tests/contract/test_schemathesis.py
    import schemathesis

    return schemathesis.openapi.from_wsgi("/v1/manage/openapi.json", application)


@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=lambda part: part)
def test_generated_requests(path, method, wsgi, settings):
    from schemathesis.checks import not_a_server_error
    from schemathesis.generation.feedback import NO_FEEDBACK
    from schemathesis.pytest._test_builder import build_operation_test
    from schemathesis.specs.openapi import checks as rules

    settings.ALLOWED_HOSTS, settings.INTEGRATION_RATE = ["localhost"], "off"
    brand = make_brand("Acme")
    make_option("regions", "Ghent")
    make_recruiter("An", email="an@acme.example")
    vacancy = make_vacancy(brand=brand, reference="A-1")
    make_submission(make_application(vacancy=vacancy), {"first_name": "Mia"})
    api = Api(make_integration())
    checks = [
        not_a_server_error,
        rules.status_code_conformance,
        rules.content_type_conformance,
        rules.response_schema_conformance,
    ]

    def check(case: Any) -> None:
        case.path_parameters = {**(case.path_parameters or {}), "brand": "acme"}
        sent = {"Authorization": f"Bearer {api.token}", "Accept-Encoding": "identity"}
        response = case.call(headers=sent)
        case.validate_response(response, checks=checks, headers=sent)

    schema = load_schema()
    how = hypothesis.settings(
        max_examples=CASES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    given = {"given_kwargs": {}, "feedback": NO_FEEDBACK, "explicit_settings": how}
    operation = schema[path][method.upper()]
    build_operation_test(config=schema.config, operation=operation, test_func=check, **given)()

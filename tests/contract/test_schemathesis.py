"""Property-based tests of the API: schemathesis generates requests from the OpenAPI document.

SCHEMATHESIS_CASES is the number of cases for each operation; three get a quarter. `-s` shows how
many requests were made. The seed is fixed, so each run sends the same requests and each failure is
reproducible. SCHEMATHESIS_SEED=random sends others: use it by hand, with more cases.

Importing schemathesis takes seconds, and pytest's workers import every module: the tests import it
when they run, and pyproject.toml turns its pytest plugin off.
"""

import os
from collections import Counter
from functools import cache
from typing import Any

import hypothesis
import pytest

from jobsite.api import docs
from jobsite.wsgi import application
from tests.contract.sample import make_site

pytestmark = pytest.mark.slow("sends generated requests to each operation")

CASES = int(os.environ.get("SCHEMATHESIS_CASES", "40"))
# And its code.
LIKE_VACANCIES = ("/v1/vacancies/hot", "/v1/vacancies/internal", "/v1/vacancies/hot/internal")
METHODS = ("get", "put", "post", "delete", "patch")
PATHS = docs._document("")["paths"]
OPERATIONS = [
    (path, method) for path, item in PATHS.items() for method in METHODS if method in item
]


requests: Counter[str] = Counter()


@pytest.fixture(scope="module", autouse=True)
def request_counts():
    yield
    for name, number in requests.items():
        print(f"{number:7,} {name}")
    print(f"{requests.total():7,} requests by schemathesis")


@cache
def load_schema() -> Any:
    import schemathesis

    return schemathesis.openapi.from_wsgi("/openapi.json", application)


@pytest.fixture
def _site(db, wsgi, settings):
    settings.ALLOWED_HOSTS = ["localhost"]  # the host that schemathesis requests
    make_site()


def send(path: str, method: str, *, cases: int) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.generation.feedback import NO_FEEDBACK
    from schemathesis.pytest._test_builder import build_operation_test
    from schemathesis.specs.openapi import checks as rules

    schema = load_schema()
    required = set(schema.raw_schema["components"]["schemas"]["Vacancy"]["required"])

    def items_are_complete(ctx, response, case):
        """Only the parameter `fields` may omit keys of an item.
        The document alone would allow it.
        """
        is_list_or_single = case.path.startswith("/v1/vacancies") and "/form" not in case.path
        if response.status_code != 200 or "fields" in (case.query or {}) or not is_list_or_single:
            return
        data = response.json()["data"]
        for item in data if isinstance(data, list) else [data]:
            if item.get("change") != "remove":
                assert required <= set(item.get("vacancy", item))

    # Without negative_data_rejection: it judges a value before it is serialised into the query
    # string, where an integer for a comma-separated list is a list of one. tests/jobsite/api tests
    # the values to refuse.
    checks = [not_a_server_error, items_are_complete]
    checks += [rules.unsupported_method]
    if not path.endswith("/changes"):  # a cursor is opaque, and an unknown brand is a 400
        checks += [rules.positive_data_acceptance]
    checks += [rules.status_code_conformance, rules.content_type_conformance]
    checks += [rules.response_headers_conformance, rules.response_schema_conformance]

    def check(case):
        requests[f"{case.method} {case.path}"] += 1
        # Its WSGI client does not decompress.
        response = case.call(headers={"Accept-Encoding": "identity"})
        case.validate_response(response, checks=checks)

    is_random = os.environ.get("SCHEMATHESIS_SEED") == "random"
    every, phases = (
        list(hypothesis.HealthCheck),
        [hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    how = {"max_examples": cases, "derandomize": not is_random, "database": None, "deadline": None}
    settings = hypothesis.settings(phases=phases, suppress_health_check=every, **how)
    given = {"given_kwargs": {}, "feedback": NO_FEEDBACK, "explicit_settings": settings}
    operation = schema[path][method]
    build_operation_test(config=schema.config, operation=operation, test_func=check, **given)()


@pytest.mark.usefixtures("_site")
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_responses_match_the_document(path: str, method: str) -> None:
    send(path, method, cases=CASES // 4 if path in LIKE_VACANCIES else CASES)


@pytest.mark.smoke
@pytest.mark.usefixtures("_site")
def test_responses_of_one_operation_match_the_document() -> None:
    send("/v1/vacancies/{id}", "get", cases=8)

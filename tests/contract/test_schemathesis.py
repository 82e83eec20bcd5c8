"""Property-based requests, which schemathesis generates from the OpenAPI document.

SCHEMATHESIS_CASES=4000 runs that many cases for each operation, and `-s` shows their numbers. Failures are
reproducible: the seed is fixed.
"""

import os
from collections import Counter

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from jobsite.wsgi import application
from tests.contract.sample import make_site

CASES = int(os.environ.get("SCHEMATHESIS_CASES", "40"))

made: Counter[str] = Counter()

schema = schemathesis.openapi.from_wsgi("/openapi.json", application)


def full_items_without_fields(ctx, response, case):
    """Items have all keys, unless `fields` selects some. The document alone does not require that."""
    is_list_or_single = case.path.startswith("/v1/vacancies") and "/form" not in case.path
    if response.status_code != 200 or "fields" in (case.query or {}) or not is_list_or_single:
        return
    data = response.json()["data"]
    required = set(schema.raw_schema["components"]["schemas"]["Vacancy"]["required"])
    for item in data if isinstance(data, list) else [data]:
        assert required <= set(item)


# Without negative_data_rejection: it validates a value before it is encoded in the query string, where an
# integer for a comma list is a list of one. tests/jobsite/api has the invalid values.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
    full_items_without_fields,
]


@pytest.fixture(scope="module", autouse=True)
def statistics():
    yield
    for name, number in made.items():
        print(f"{number:7,} {name}")
    print(f"{made.total():7,} cases of schemathesis")


@pytest.fixture
def _site(db, wsgi, settings):
    settings.ALLOWED_HOSTS = ["localhost"]  # the host of schemathesis's WSGI client
    make_site()


@pytest.mark.usefixtures("_site")
@schema.parametrize()
@hypothesis.settings(
    max_examples=CASES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_responses_match_the_document(case):
    made[f"{case.method} {case.path}"] += 1
    response = case.call(headers={"Accept-Encoding": "identity"})  # its WSGI client does not decompress
    case.validate_response(response, checks=CHECKS)

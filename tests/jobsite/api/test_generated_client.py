"""Clients that openapi-python-client and swagger-typescript-api generate from the served document.

That responses match the document: tests/contract/test_schemathesis.py.
"""

import importlib
import io
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import httpx
import pytest

from applications.models import SubmissionFile
from jobsite.api import docs
from tests import node
from tests.applications.submissions.sending import (
    PDF,
    VALUES,
    document,
    make_open_vacancy,
    served_version,
)
from tests.contract.sample import make_site
from tests.factories import make_vacancy
from vacancies.models import Vacancy

pytestmark = pytest.mark.slow("generates a client")

PACKAGE = "generated_client"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The generated package."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_bytes(docs._body("", "http://testserver"))
    (folder / "config.json").write_text(json.dumps({"post_hooks": []}))
    command = f"{sys.executable} -m openapi_python_client generate --fail-on-warning --meta none"
    files = f"--path openapi.json --output-path {PACKAGE} --config config.json"
    words = [*command.split(), *files.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(PACKAGE)
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            del sys.modules[name]


def plain(name: str) -> str:
    """Return a form that is equal for a name in the document and the generated name."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def operations() -> dict[str, Any]:
    """The generated functions by operation id, without capitals and punctuation."""
    api = importlib.import_module(f"{PACKAGE}.api")
    names = [module.name for module in pkgutil.walk_packages(api.__path__, f"{api.__name__}.")]
    functions = {plain(name.rpartition(".")[2]): importlib.import_module(name) for name in names}
    return {
        name: each.sync_detailed
        for name, each in functions.items()
        if hasattr(each, "sync_detailed")
    }


@pytest.mark.django_db
def test_generated_client_parses_responses_in_full(
    generated: ModuleType, filters: Any, wsgi: Any
) -> None:
    functions, paths = operations(), docs._document("")["paths"].values()
    described = {plain(each["operationId"]): each for methods in paths for each in methods.values()}
    assert set(functions) == set(described)
    make_site()
    pk = Vacancy.objects.published().external().first().pk
    transport = {"transport": httpx.WSGITransport(app=wsgi)}
    client = generated.Client(base_url="http://testserver", httpx_args=transport)
    for name, operation in described.items():
        if "requestBody" in operation or name == "revoketoken":
            continue
        has_id = "id" in {each["name"] for each in operation["parameters"]}
        answer = functions[name](client=client, **({"id": pk} if has_id else {}))
        assert answer.status_code == (401 if name == "listmyapplications" else 200), name
        assert answer.parsed.to_dict() == json.loads(answer.content), name


@pytest.mark.smoke
def test_generated_client_accepts_new_values_of_open_lists(generated: ModuleType) -> None:
    models = importlib.import_module(f"{PACKAGE}.models")
    field = {"name": "a", "type": "signature", "label": "A", "required": True, "css": "col-5"}
    option = {"value": "high", "label": "High", "count": 1}
    filter_ = {"id": 1, "label": "Salary", "keyword": "salary", "options": [option]}
    assert models.FormField.from_dict(field).to_dict() == field
    assert models.Filter.from_dict(filter_).to_dict() == filter_


@pytest.mark.django_db
def test_generated_client_submits_files(generated: ModuleType, at: Any, wsgi: Any) -> None:
    models, types = (importlib.import_module(f"{PACKAGE}.{name}") for name in ("models", "types"))
    vacancy = make_open_vacancy()
    # A request of Django's client breaks `wsgi`.
    version = served_version(Vacancy.objects.with_form().get())
    values = VALUES | {"cv": "same.pdf", "letter": "same.pdf"}
    application = {"version": version, "values": values}
    body = models.SubmitApplicationFilesBody.from_dict({"application": application})
    body.files = [
        types.File(io.BytesIO(PDF + end), "same.pdf", "application/pdf") for end in (b"1", b"2\n")
    ]
    transport = {"transport": httpx.WSGITransport(app=wsgi)}
    client = generated.Client(base_url="http://testserver", httpx_args=transport)

    answer = operations()["submitapplication"](vacancy.pk, client=client, body=body)

    assert answer.status_code == 201, answer.content
    stored = SubmissionFile.objects.order_by("field").values_list("field", "original_name", "size")
    assert list(stored) == [("cv", "same.pdf", len(PDF) + 1), ("letter", "same.pdf", len(PDF) + 2)]


@pytest.mark.django_db(transaction=True)
def test_generated_typescript_client_lists_pages_and_submits(
    filters: Any, tmp_path: Any, live_server: Any
) -> None:
    node.require()
    make_vacancy(options={"regions": ["Ghent"]})
    vacancy = make_open_vacancy()
    (tmp_path / "openapi.json").write_bytes(docs._body("", live_server.url))
    words = f"generate --path {tmp_path}/openapi.json --output {tmp_path} --name api.ts"
    made = node.run("swagger-typescript-api", *words.split())
    assert made.returncode == 0, made.stdout + made.stderr

    application = json.dumps(document(vacancy, VALUES | {"cv": "cv.pdf"}))
    program = [
        "node",
        node.FOLDER / "client.mjs",
        tmp_path,
        live_server.url,
        str(vacancy.pk),
        application,
    ]
    done = subprocess.run(program, cwd=node.FOLDER, capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stderr
    listed, page, status, instance = json.loads(done.stdout)
    shown = (listed, page["current_page"], page["total"], status, instance)
    assert shown == (1, 2, 2, 201, "/v1/vacancies")
    assert SubmissionFile.objects.values_list("field", "original_name").get() == ("cv", "cv.pdf")

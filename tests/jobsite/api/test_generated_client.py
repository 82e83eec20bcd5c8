"""A client that openapi-python-client generates from the served document, used on the demo.

A generated client keeps the keys that it knows as attributes, and puts all others into
`additional_properties`. What it parses must be everything that came, and nothing may be left over.
"""

import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.db import connection

from applications.models import Submission
from jobsite.api import docs
from vacancies.models import Vacancy
from vacancies.previews import token_for

pytestmark = pytest.mark.slow("generates a client with npm, and starts a server")

PACKAGE = "generated_client"
APPLICANT = {"username": "applicant", "password": "applicant"}
SCHEMA_OF_A_SUBMISSION = "FormSchemaSchema"  # a JSON Schema: the document leaves its keywords open


def plain(name: str) -> str:
    """Return a form that is equal for a name in the document and the generated name."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The generated package."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_bytes(docs._body("", "http://testserver"))
    (folder / "config.json").write_text(json.dumps({"post_hooks": []}))
    command = f"{sys.executable} -m openapi_python_client generate --fail-on-warning --meta none"
    files = f"--path openapi.json --output-path {PACKAGE} --config config.json"
    done = subprocess.run(
        [*command.split(), *files.split()], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(PACKAGE)
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            del sys.modules[name]


@pytest.fixture
def demo(db: None, settings: Any, wsgi: Any) -> dict[str, Any]:
    """Create the demo; return arguments for a client."""
    settings.DEBUG = True
    call_command("demo", "--no-serve")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # autovacuum does not see uncommitted rows
    site = {"base_url": "http://testserver", "httpx_args": {"transport": httpx.WSGITransport(app=wsgi)}}
    return site | {"raise_on_unexpected_status": True}


def operations(package: ModuleType) -> dict[str, Any]:
    """The generated functions by operation id, without capitals and punctuation."""
    api = importlib.import_module(f"{package.__name__}.api")
    names = [module.name for module in pkgutil.walk_packages(api.__path__, f"{api.__name__}.")]
    modules = [(name, importlib.import_module(name)) for name in names]
    return {
        plain(name.rpartition(".")[2]): module.sync_detailed
        for name, module in modules
        if hasattr(module, "sync_detailed")
    }


def undescribed_keys(parsed: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield every object in `parsed` with keys that the document does not describe."""
    if isinstance(parsed, list):
        for member in parsed:
            yield from undescribed_keys(member)
    elif hasattr(parsed, "additional_properties"):
        name = type(parsed).__name__
        if parsed.additional_properties and name != SCHEMA_OF_A_SUBMISSION:
            yield name, list(parsed.additional_properties)
        for attribute in parsed.__attrs_attrs__:
            yield from undescribed_keys(getattr(parsed, attribute.name))


def round_trip(function: Any, expected: int = 200, **arguments: Any) -> Any:
    """Call the operation; check that the parsed response has the full body; return it."""
    answer = function(**arguments)
    assert answer.status_code == expected, (function, arguments, answer.content)
    if expected == 204:
        assert (answer.content, answer.parsed) == (b"", None)
        return None
    assert answer.parsed.to_dict() == json.loads(answer.content)
    assert list(undescribed_keys(answer.parsed)) == []
    return answer.parsed


def values_of(parameter: dict[str, Any], options: dict[str, str]) -> list[Any]:
    """Return values for a parameter of the document."""
    schema = parameter["schema"]
    if parameter["name"] in options:
        return [[options[parameter["name"]]], [options[parameter["name"]], "no-such-option"]]
    if schema["type"] == "array":
        values = schema["items"].get("enum", ["no-such-option"])
        return [[values[0]], [values[0], values[-1]]]
    return schema.get("enum") or schema.get("examples")


def typed(function: Any, name: str, value: Any) -> dict[str, Any]:
    """Return the argument for the parameter `name`, with `value` in the type that the client takes."""
    hints = inspect.get_annotations(function, eval_str=True)
    argument = next(each for each in hints if plain(each) == plain(name))
    for kind in getattr(hints[argument], "__args__", (hints[argument],)):
        member = getattr(kind, "__args__", [None])[0]
        if isinstance(value, list) and hasattr(member, "__members__"):
            value = [member(each) for each in value]
        elif hasattr(kind, "__members__"):
            value = kind(value)
    return {argument: value}


@pytest.mark.django_db
def test_generated_client_round_trips_every_operation(generated: ModuleType, demo: dict[str, Any]) -> None:
    document = docs._document("")
    functions = operations(generated)
    described = {
        plain(operation["operationId"]): operation
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    assert set(functions) == set(described)
    client = generated.Client(**demo)
    models = importlib.import_module(f"{PACKAGE}.models")

    # First a token: some operations need a signed-in user.
    wanted = models.CreateTokenBody.from_dict(APPLICANT)
    token = round_trip(functions["createtoken"], client=client, body=wanted).data.token
    wrong = models.CreateTokenBody.from_dict(APPLICANT | {"password": "wrong"})
    round_trip(functions["createtoken"], 401, client=client, body=wrong)
    empty = models.CreateTokenBody.from_dict(APPLICANT | {"password": ""})
    round_trip(functions["createtoken"], 400, client=client, body=empty)
    signed_in = generated.AuthenticatedClient(**demo, token=token)

    filters = round_trip(functions["listfilters"], client=client).data
    assert len(filters) > 5
    options = {f"filter[{each.keyword}]": each.options[0].value for each in filters}
    ids = list(Vacancy.objects.published().values_list("pk", flat=True))
    assert len(ids) > 20
    used = {"createtoken"}
    for name, operation in described.items():
        if "requestBody" in operation or name == "revoketoken":
            continue
        used.add(name)
        function, security = functions[name], operation["security"]
        asking = client if not security or {} in security else signed_in
        parameters = {each["name"]: each for each in operation["parameters"]}
        if "id" in parameters:
            del parameters["id"]
            for pk in ids:
                round_trip(function, client=asking, id=pk)
            round_trip(function, 404, client=asking, id=10**9)
            preview = token_for(ids[0])
            del parameters["preview"]
            round_trip(function, client=asking, id=ids[0], preview=preview)
            round_trip(function, 404, client=asking, id=ids[0], preview="wrong")
        else:
            parsed = round_trip(function, client=asking)
            assert parsed.data, name
        for parameter, each in parameters.items():
            for value in values_of(each, options):
                round_trip(function, client=asking, **typed(function, parameter, value))
        if "page[size]" in parameters:
            round_trip(function, 400, client=asking, **typed(function, "page[size]", 0))

    submission = Submission.objects.filter(files=None).select_related("application", "snapshot").latest("pk")
    submit = partial(functions["submitapplication"], client=signed_in, id=submission.application.vacancy_id)
    content = {"version": submission.snapshot.digest, "values": submission.values}
    sent = round_trip(submit, 201, body=models.SubmitApplicationJsonBody.from_dict(content))
    assert sent.data.reference == submission.application.reference  # it has the same content
    round_trip(submit, 422, body=models.SubmitApplicationJsonBody.from_dict(content | {"values": {}}))
    used.add("submitapplication")

    mine = functions["listmyapplications"]
    round_trip(mine, 401, client=client)
    assert {type(each).__name__ for each in round_trip(mine, client=signed_in).data} == {"Application"}
    round_trip(functions["revoketoken"], 204, client=signed_in)
    round_trip(functions["revoketoken"], 401, client=signed_in)
    assert used | {"revoketoken"} == set(described)


@pytest.mark.smoke
def test_generated_client_accepts_new_values_of_open_lists(generated: ModuleType) -> None:
    models = importlib.import_module(f"{PACKAGE}.models")
    field = {"name": "a", "type": "signature", "label": "A", "required": True, "css": "col-5"}
    option = {"value": "high", "label": "High", "count": 1}
    filter_ = {"id": 1, "label": "Salary", "keyword": "salary", "options": [option]}
    assert models.FormField.from_dict(field).to_dict() == field
    assert models.Filter.from_dict(filter_).to_dict() == filter_

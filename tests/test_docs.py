"""Examples of README.md, docs/api.md and docs/integrations.md: each block runs against the demo,
with the clock at DEMO_TIME, and must print what the document shows. New blocks are found
automatically.

Bash runs indented blocks and ```sh, Python runs ```python, Node runs ```js. A ```json block, or one
without a language, that follows is the expected output. For JSON a nested part is enough, and "..."
matches any text. Other blocks (```text) do not run. SKIPPED lists what cannot run in a test.
UPDATE_DOCS=1 writes outputs that are not JSON into the documents.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from contextlib import suppress
from datetime import datetime
from importlib.util import find_spec
from typing import NamedTuple

import pytest
from django.core.management import get_commands, load_command_class

from tests.servers import ROOT, SYSTEM_ENV, TIMEOUT, copy_template, free_port, until
from vacancies.exchange.serializers import ImportSerializer

# The documents show the demo of this time.
DEMO_TIME = datetime.fromisoformat("2026-11-21T08:55:00+00:00")
DOCUMENTS = ("README.md", "docs/api.md", "docs/integrations.md")
# Both are replaced by the demo's URL.
SHOWN, SOURCE = "http://127.0.0.1:8000", "https://jobs.example.com"
# Lines of shell blocks, and first lines of other blocks, that cannot run in a test, with the
# reason.
SKIPPED = {
    "export TOKEN=jsi_...": "the test has the token of an integration",
    "export API=http://127.0.0.1:8000/v1/manage/noordkaai-logistics": "the test has that of the demo",
    "make demo": "installs packages; tests/deploy/test_makefile.py runs it",
    "make test": "runs this test",
    "uv run --no-project --with-requirements requirements.txt manage.py demo": (
        "installs from a registry"
    ),
    "uv run --no-project --with-requirements requirements-dev.txt pytest": (
        "installs from a registry"
    ),
    '<link rel="stylesheet" href="/form.css">': (
        "is HTML; tests/browser/test_form_renderer.py runs it"
    ),
    'import { customizeValidator } from "@rjsf/validator-ajv8";': (
        "needs npm packages; tests/forms_structure/test_renderers.py runs it"
    ),
    'const mine = await fetch("/v1/user/applications", { credentials: "same-origin" });': (
        "needs a page of the same site and its session"
    ),
}
NODE_BEFORE = 'const username = "applicant", password = "applicant";\n'
API: dict[str, str] = {}  # the variables of docs/integrations.md, in each shell block
ISSUE = (
    "import django; django.setup(); from django.utils import timezone; "
    "from vacancies.manage.tokens import create_integration, issue_token; "
    "from vacancies.models import Integration, IntegrationScope; "
    "made = Integration(name='HRIS', every_brand=True, scopes=IntegrationScope.values); "
    "create_integration(made, author=None); print(issue_token(made, at=timezone.now())[1])"
)
# Each curl also prints its status to stderr.
BASH_BEFORE = "set -eo pipefail\ncurl() { command curl -w '%{stderr}%{http_code}\\n' \"$@\"; }\n"


class Block(NamedTuple):
    place: str  # file and line
    language: str
    text: str
    printed: str | None  # the expected output


def blocks(name):
    found, lines = [], (ROOT / name).read_text().splitlines()
    number, last_end = 0, None
    while number < len(lines):
        start, line = number, lines[number]
        if fence := re.fullmatch(r"```(\w*)", line):
            end = lines.index("```", number + 1)
            language, text = fence[1], "\n".join(lines[number + 1 : end])
            number = end + 1
        elif line.startswith("    ") and not lines[number - 1]:
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number]):
                number += 1
            while not lines[number - 1]:
                number -= 1
            language, text = "sh", "\n".join(part[4:] for part in lines[start:number])
        else:
            number += 1
            continue
        place = f"{name}:{start + 1}"
        if language in ("json", ""):
            assert found, f"{place}: no block before this output"
            assert last_end is not None, f"{place}: no block before this output"
            assert not any(lines[last_end:start]), f"{place}: text between a block and its output"
            found[-1] = found[-1]._replace(printed=text)
            last_end = None
        else:
            found.append(Block(place, language, text, None))
            last_end = number
    return found


BLOCKS = [block for name in DOCUMENTS for block in blocks(name) if block.language != "text"]


def lines_of(block):
    """Return the lines of the block without comments, continuation lines joined."""
    joined = block.text.replace("\\\n", "")
    return [re.sub(r"\s+# .*", "", line) for line in joined.splitlines() if line.strip()]


def test_make_targets_and_modules_in_the_documents_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    unknown = []
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = path.read_text()
        unknown += {*re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.MULTILINE)} - targets
        unknown += [
            name for name in re.findall(r"-m (tests(?:\.\w+)*)", text) if not find_spec(name)
        ]
    assert unknown == []


def test_skipped_lines_are_in_the_documents():
    lines = {line for block in BLOCKS for line in lines_of(block)}
    assert sorted(SKIPPED.keys() - lines) == []


def test_import_page_lists_the_keys_of_a_vacancy():
    page = (ROOT / "docs/operations/import.md").read_text()
    rows = page.partition("## The keys of a vacancy")[2].partition("\n## ")[0].splitlines()
    listed = {
        key
        for row in rows
        if row.startswith("|")
        for key in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert listed == set(ImportSerializer().fields)


# --- Each block ---


def environment(folder):
    roots = {"MEDIA_ROOT": str(folder / "media"), "PRIVATE_ROOT": str(folder / "private")}
    return {"DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}", **roots}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The base URL of a demo that is created and served at DEMO_TIME."""
    folder, port = tmp_path_factory.mktemp("demo"), free_port()
    copy_template(folder / "db.sqlite3")
    clock = (
        "import sys, datetime, time_machine; "
        f"time_machine.travel(datetime.datetime.fromisoformat({DEMO_TIME.isoformat()!r})).start(); "
        "from django.core.management import execute_from_command_line; "
        f"execute_from_command_line(['manage.py', 'demo', '--port', '{port}'])"
    )
    env = SYSTEM_ENV | environment(folder)
    env |= {"DJANGO_SETTINGS_MODULE": "jobsite.settings", "RATE_LIMIT": "off"}
    with (
        open(folder / "log", "w") as log,
        subprocess.Popen(
            [sys.executable, "-c", clock], cwd=ROOT, env=env, stdout=log, stderr=log
        ) as server,
    ):
        try:
            base = f"http://127.0.0.1:{port}"

            def is_up():
                assert server.poll() is None, (folder / "log").read_text()
                with suppress(OSError):
                    urllib.request.urlopen(f"{base}/v1/filters", timeout=10).close()
                    return True
                return False

            until(is_up, within=2 * TIMEOUT)
            issue = [sys.executable, "-c", ISSUE]
            API["TOKEN"] = subprocess.check_output(issue, cwd=ROOT, env=env, text=True).strip()
            API["API"] = f"{base}/v1/manage/noordkaai-logistics"
            yield base
        finally:
            server.terminate()


def contains(body, part):
    """Return whether `part` is `body` or a value nested in it."""
    members = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    return matches(body, part) or any(contains(member, part) for member in members)


def matches(value, shown):
    if shown == "...":
        return isinstance(value, str)
    if isinstance(shown, dict) and isinstance(value, dict):
        return shown.keys() == value.keys() and all(
            matches(value[key], shown[key]) for key in shown
        )
    if isinstance(shown, list) and isinstance(value, list):
        return len(shown) == len(value) and all(map(matches, value, shown))
    return value == shown


def bodies(text):
    """Return the JSON objects at the beginning of `text`."""
    found = []
    while text.startswith("{"):
        body, end = json.JSONDecoder().raw_decode(text)
        found.append(body)
        text = text[end:].lstrip()
    return found


PROGRAMS = {"sh": ["bash", "-c"], "python": [sys.executable, "-c"]}
PROGRAMS["js"] = ["node", "--input-type=module", "-e"]


@pytest.mark.slow("runs programs against a demo")
@pytest.mark.parametrize("block", BLOCKS, ids=[block.place for block in BLOCKS])
def test_block_prints_what_the_document_shows(block, demo, tmp_path):
    lines = [line for line in lines_of(block) if line not in SKIPPED]
    text = "\n".join(lines) if block.language == "sh" else block.text
    if not lines or (block.language != "sh" and lines_of(block)[0] in SKIPPED):
        return  # listed in SKIPPED, with the reason
    assert block.language in PROGRAMS, (
        f"{block.place}: no program for {block.language}, and not in SKIPPED"
    )
    [program, *words] = PROGRAMS[block.language]
    if not shutil.which(program) or (block.language == "sh" and not shutil.which("curl")):
        pytest.skip(f"{program} or curl is not installed")
    text = (
        text.replace(SHOWN, demo).replace(SOURCE, demo).replace(".venv/bin/python", sys.executable)
    )
    text = {"sh": BASH_BEFORE, "js": NODE_BEFORE}.get(block.language, "") + text
    env = SYSTEM_ENV | environment(tmp_path) | API
    how = {"cwd": ROOT, "env": env, "capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run([program, *words, text], **how)

    assert done.returncode == 0, done.stderr
    printed = done.stdout.replace(demo, SHOWN).strip()
    expected = None
    with suppress(ValueError):
        expected = json.loads(block.printed or "")
    statuses = [int(status) for status in re.findall(r"^\d{3}$", done.stderr, re.MULTILINE)]
    refusals = [expected["status"]] if isinstance(expected, dict) and "status" in expected else []
    assert [status for status in statuses if status not in (200, 201, 204, 304)] == refusals
    assert [body for body in bodies(printed) if body.get("data") == []] == []  # nothing to show
    if block.printed is not None and printed != block.printed.strip():
        if os.environ.get("UPDATE_DOCS") and expected is None:
            path = ROOT / block.place.partition(":")[0]
            path.write_text(
                path.read_text().replace(f"```\n{block.printed}\n```", f"```\n{printed}\n```")
            )
            return
        assert expected is not None, printed
        assert contains(json.loads(printed), expected), printed


# --- Commands and their options ---

APPS = ("jobsite", "vacancies", "applications", "forms_structure")
OURS = {name: load_command_class(app, name) for name, app in get_commands().items() if app in APPS}
REFERENCE = (ROOT / "docs/commands.md").read_text()
TABLE = re.findall(r"^\| `([a-z_]+)([^`]*)` \|", REFERENCE, re.MULTILINE)
MENTIONED = [
    (f"{path.relative_to(ROOT)}: {name}", name, words)
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    for name, words in re.findall(r"manage\.py ([a-z_]+)((?: [^`\n#&|;)]*)?)", path.read_text())
]


@pytest.mark.slow("sends a submission to a demo")
def test_example_of_a_submission_is_accepted_by_the_demo(demo):
    with urllib.request.urlopen(f"{demo}/openapi.json") as answer:
        operation = json.load(answer)["paths"]["/v1/vacancies/{id}/applications"]["post"]
    [pk] = operation["parameters"][0]["schema"]["examples"]
    examples = operation["requestBody"]["content"]["multipart/form-data"]["examples"]
    body = json.dumps(examples["A submission"]["value"]["application"]).encode()
    path = f"{demo}/v1/vacancies/{pk}/applications"
    request = urllib.request.Request(path, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 201


@pytest.mark.slow("requests each filter of the documents from a demo")
def test_examples_of_filters_find_something(demo):
    text = (ROOT / "docs/api.md").read_text()
    examples = re.findall(r"[`?](filter\[[a-z_]+\](?:\[\])?=[^`'\s]+)[`'\s]", text)
    assert len(examples) > 4
    found = {}
    for query in examples:
        with urllib.request.urlopen(f"{demo}/v1/vacancies?{query}") as answer:
            found[query] = json.load(answer)["meta"]["total"]
        # Each value alone, too.
        for option in re.findall(r"(filter\[[a-z_]+\])(?:\[\])?=([^&]+)", query):
            for value in option[1].split(",") if option[0] != "filter[near]" else ():
                with urllib.request.urlopen(f"{demo}/v1/vacancies?{option[0]}={value}") as answer:
                    found[f"{option[0]}={value}"] = json.load(answer)["meta"]["total"]
    assert [query for query, total in found.items() if not total] == []


def options_of(command):
    parser = command.create_parser("manage.py", "x")
    return {word for action in parser._actions for word in action.option_strings}


def test_reference_has_every_command():
    assert sorted(name for name, _ in TABLE if name in get_commands()) == sorted(OURS)


def test_documents_name_only_existing_options():
    table = [(f"table: {name}", name, words) for name, words in TABLE if name in OURS]
    unknown = []
    for place, name, words in [*table, *MENTIONED]:
        assert name in get_commands(), place
        options = options_of(OURS.get(name) or load_command_class(get_commands()[name], name))
        found = re.findall(r"(?<![\w-])--[a-z-]+", words)
        unknown += [(place, word) for word in found if word not in options]
    assert unknown == []


def test_every_command_except_those_of_django_has_json_output():
    without = {name for name, command in OURS.items() if "--format" not in options_of(command)}
    assert without == {"makemigrations", "migrate"}
    assert "Each but `migrate` and `makemigrations` has `--format json`" in REFERENCE


def test_upgrade_page_runs_what_the_changelog_asks_for():
    changelog = " ".join((ROOT / "CHANGELOG.md").read_text().split())
    asked = {
        *re.findall(r"(?:[Rr]un|[Aa]fter|after the upgrade,) `(?:manage\.py )?(\w+)", changelog)
    }
    asked &= get_commands().keys()
    page = (ROOT / "docs/operations/upgrade.md").read_text()
    [procedure] = re.findall(
        r"^## Short procedure.*?^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    )

    assert {"create_roles", "lint_vacancies"} <= asked
    assert [each for each in sorted(asked) if f"manage.py {each}" not in page] == []
    order = [
        procedure.index(each)
        for each in ("manage.py migrate", "manage.py create_roles", "reload jobsite")
    ]
    assert order == sorted(order)

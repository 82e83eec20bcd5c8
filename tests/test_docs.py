"""What README.md and docs/api.md print: each command and example runs against the demo, whose clock stands at
MOMENT, and prints what the document says. A new block joins by itself.

An indented block or one of ```sh is run by bash, ```python by Python, ```js by Node. A ```json block or one
without a language that follows is what it prints: all of it, or for JSON a part of it, with "..." for any
text. Other blocks (```text) are not run. What cannot run here is in SKIPPED. With UPDATE_DOCS=1 the outputs
that are not JSON are written into the documents.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

import pytest
from django.core.management import get_commands, load_command_class

from tests.servers import PATIENCE, PLAIN, ROOT, free_port

MOMENT = datetime.fromisoformat("2026-11-21T08:55:00+00:00")  # when the documents' demo was made
DOCUMENTS = ("README.md", "docs/api.md")
SHOWN, SOURCE = "http://127.0.0.1:8000", "https://jobs.example.com"  # both are the demo here
# First lines of blocks, and lines of the shell's, that cannot run in a test, and why.
SKIPPED = {
    "make demo": "installs; tests/deploy/test_makefile.py runs it, and this demo is the same",
    "make test": "runs this test",
    "uv run --no-project --with-requirements requirements.txt manage.py demo": "installs from a registry",
    "uv run --no-project --with-requirements requirements-dev.txt pytest": "installs from a registry",
    "make faults": "takes ten minutes; tests/faults",
    ".venv/bin/python -m tests.hostile --requests 2000": "takes minutes; tests/hostile/test_hostile.py",
    "make audit": "asks a registry for advisories",
    "make sbom": "installs from a registry",
    '<link rel="stylesheet" href="/form.css">': "is a page; tests/browser/test_form_renderer.py has it",
    'const mine = await fetch("/v1/user/applications", { credentials: "same-origin" });': (
        "needs a page of the same site and its session"
    ),
}
NODE_BEFORE = 'const username = "applicant", password = "applicant";\n'
# Each curl also says its status on stderr.
BASH_BEFORE = "set -eo pipefail\ncurl() { command curl -w '%{stderr}%{http_code}\\n' \"$@\"; }\n"


class Block(NamedTuple):
    place: str  # file and line
    language: str
    text: str
    printed: str | None  # what follows as its output


def blocks(name):
    """Return the blocks of a document, outputs with what prints them."""
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
            assert found, f"{place}: nothing before prints this"
            assert last_end is not None, f"{place}: nothing before prints this"
            assert not any(lines[last_end:start]), f"{place}: prose between a block and its output"
            found[-1] = found[-1]._replace(printed=text)
            last_end = None
        else:
            found.append(Block(place, language, text, None))
            last_end = number
    return found


BLOCKS = [block for name in DOCUMENTS for block in blocks(name) if block.language != "text"]


def lines_of(block):
    """The lines of the block, continued ones in one, without comments."""
    joined = block.text.replace("\\\n", "")
    return [re.sub(r"\s+# .*", "", line) for line in joined.splitlines() if line.strip()]


def test_what_is_skipped_is_there():
    there = {line for block in BLOCKS for line in lines_of(block)}
    assert sorted(SKIPPED.keys() - there) == []


# --- Each block ---


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The base URL of the demo, made and served at MOMENT."""
    folder, port = tmp_path_factory.mktemp("demo"), free_port()
    clock = (
        "import sys, datetime, time_machine; "
        f"time_machine.travel(datetime.datetime.fromisoformat({MOMENT.isoformat()!r})).start(); "
        "from django.core.management import execute_from_command_line; "
        f"execute_from_command_line(['manage.py', 'demo', '--port', '{port}'])"
    )
    env = PLAIN | {
        "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
        "MEDIA_ROOT": str(folder / "media"),
        "DJANGO_SETTINGS_MODULE": "jobsite.settings",
        "RATE_LIMIT": "off",
    }
    with (
        open(folder / "log", "w") as log,
        subprocess.Popen([sys.executable, "-c", clock], cwd=ROOT, env=env, stdout=log, stderr=log) as server,
    ):
        try:
            deadline, base = time.monotonic() + 2 * PATIENCE, f"http://127.0.0.1:{port}"
            while True:
                with suppress(OSError):
                    urllib.request.urlopen(f"{base}/v1/filters", timeout=10).close()
                    break
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.1)
            yield base
        finally:
            server.terminate()


def holds(answer, part):
    """Whether `part` is a value inside of `answer`."""
    members = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list) else ()
    return any(is_like(member, part) or holds(member, part) for member in members)


def is_like(value, shown):
    if shown == "...":
        return isinstance(value, str)
    if isinstance(shown, dict) and isinstance(value, dict):
        return shown.keys() == value.keys() and all(is_like(value[key], shown[key]) for key in shown)
    if isinstance(shown, list) and isinstance(value, list):
        return len(shown) == len(value) and all(map(is_like, value, shown))
    return value == shown


def bodies(text):
    """The JSON objects that `text` begins with, one after the other."""
    found = []
    while text.startswith("{"):
        body, end = json.JSONDecoder().raw_decode(text)
        found.append(body)
        text = text[end:].lstrip()
    return found


PROGRAMS = {
    "sh": ["bash", "-c"],
    "python": [sys.executable, "-c"],
    "js": ["node", "--input-type=module", "-e"],
}


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=[block.place for block in BLOCKS])
def test_block_does_what_the_document_says(block, demo, tmp_path):
    lines = lines_of(block)
    if block.language == "sh":
        lines = [line for line in lines if line not in SKIPPED]
        text = "\n".join(lines)
    else:
        lines = [] if lines[0] in SKIPPED else lines
        text = block.text
    if not lines:
        return  # listed in SKIPPED, with the reason
    assert block.language in PROGRAMS, f"{block.place}: no program for {block.language}, and not in SKIPPED"
    [program, *words] = PROGRAMS[block.language]
    if not shutil.which(program) or (block.language == "sh" and not shutil.which("curl")):
        pytest.skip(f"{program} or curl is not installed")
    text = text.replace(SHOWN, demo).replace(SOURCE, demo).replace(".venv/bin/python", sys.executable)
    text = {"sh": BASH_BEFORE, "js": NODE_BEFORE}.get(block.language, "") + text
    env = PLAIN | {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}",
        "MEDIA_ROOT": str(tmp_path / "media"),
    }
    done = subprocess.run(
        [program, *words, text], cwd=ROOT, env=env, capture_output=True, text=True, timeout=300
    )

    assert done.returncode == 0, done.stderr
    printed = done.stdout.replace(demo, SHOWN).strip()
    expected = None
    with suppress(ValueError):
        expected = json.loads(block.printed or "")
    statuses = [int(status) for status in re.findall(r"^\d{3}$", done.stderr, re.MULTILINE)]
    is_refusal = isinstance(expected, dict) and "status" in expected
    assert [s for s in statuses if s not in (200, 201, 204, 304)] == (
        [expected["status"]] if is_refusal else []
    )
    assert [body for body in bodies(printed) if body.get("data") == []] == []  # it would show nothing
    if block.printed is not None and printed != block.printed.strip():
        if os.environ.get("UPDATE_DOCS") and expected is None:
            path = ROOT / block.place.partition(":")[0]
            path.write_text(path.read_text().replace(f"```\n{block.printed}\n```", f"```\n{printed}\n```"))
            return
        assert expected is not None, printed
        assert holds(json.loads(printed), expected), printed


# --- Commands that are mentioned ---

OURS = {
    name: load_command_class(app, name)
    for name, app in get_commands().items()
    if app in ("jobsite", "vacancies", "applications", "forms_structure")
}
TABLE = re.findall(r"^\| `([a-z_]+)([^`]*)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
MENTIONED = [
    (f"{path.relative_to(ROOT)}: {name}", name, words)
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
    for name, words in re.findall(r"manage\.py ([a-z_]+)((?: [^`\n#&|;)]*)?)", path.read_text())
]


def options_of(command):
    parser = command.create_parser("manage.py", "x")
    return {word for action in parser._actions for word in action.option_strings}


def test_the_table_has_every_command():
    table = [(name, words) for name, words in TABLE if name in get_commands()]
    assert sorted(name for name, _ in table) == sorted(OURS)


@pytest.mark.parametrize(
    ("place", "name", "words"),
    [*((f"table: {name}", name, words) for name, words in TABLE if name in OURS), *MENTIONED],
)
def test_commands_have_the_options_that_documents_name(place, name, words):
    assert name in get_commands(), place
    command = OURS.get(name) or load_command_class(get_commands()[name], name)
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", words)) - options_of(command) == set(), place


def test_all_commands_but_those_of_django_report_as_json():
    assert sorted(name for name, command in OURS.items() if "--format" not in options_of(command)) == [
        "migrate"
    ]
    assert "Each but `migrate` has `--format json`" in (ROOT / "README.md").read_text()

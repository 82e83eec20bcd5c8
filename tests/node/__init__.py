"""Node programs that some tests use. `make node` and `.ci/run` install them.

With NODE_TESTS=required, these tests fail instead of being skipped.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
VALIDATION_JS = FOLDER.parents[1] / "forms_structure/static/forms_structure/form/validation.js"
# Keep the tools off the network.
QUIET = {
    "REDOCLY_TELEMETRY": "off",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    "NO_UPDATE_NOTIFIER": "1",
}


def require() -> None:
    """Skip the test unless the versions that package.json names are installed."""
    wanted = json.loads((FOLDER / "package.json").read_text())["dependencies"]
    missing = "" if shutil.which("node") else "node is not installed"
    for name, version in wanted.items():
        package = FOLDER / "node_modules" / name / "package.json"
        if not package.exists() or json.loads(package.read_text())["version"] != version:
            missing = missing or f"{name} {version} is not installed: make node"
    if missing and os.environ.get("NODE_TESTS") == "required":
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)


def run(tool: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command line tool of package.json; its output is text."""
    command, env = [FOLDER / "node_modules/.bin" / tool, *words], os.environ | QUIET
    return subprocess.run(command, cwd=FOLDER, env=env, capture_output=True, text=True, timeout=120)


class Validators:
    """Validators of JSON Schema in one Node process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.named: list[list[str]] = []  # of each submission, the fields that form.js reports

    def __call__(self, schema: Any, submissions: list[Any]) -> dict[str, list[bool]]:
        """Return by validator name whether each of `submissions` is valid.

        Fail if a validator reports an error in the schema."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"schema": schema, "submissions": submissions}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "Node has ended"
        answer = json.loads(line)
        assert answer["errors"] == []
        self.named = answer["named"]
        return answer["results"]


@contextmanager
def validators() -> Iterator[Validators]:
    require()
    command, pipe = ["node", FOLDER / "validate.mjs", VALIDATION_JS], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield Validators(process)
        assert process.stdin
        process.stdin.close()
        assert process.wait(timeout=20) == 0

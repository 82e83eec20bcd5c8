"""Second factors, passkeys and OpenID Connect: in processes where they are enabled, or cannot be.

The cases are in second_factor.py, second_factor_access.py and openid.py of this folder.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import ROOT, copy_template, free_port

CASES = ("second_factor.py", "second_factor_access.py", "openid.py")


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    ours = ("DATABASE", "REPLICA", "PYTEST")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=inherited | variables,
        capture_output=True,
        text=True,
    )


OIDC = {"OIDC_CLIENT_ID": "jobsite", "OIDC_CLIENT_SECRET": "a secret"}


@pytest.mark.slow("runs tests in a process")
def test_cases_with_the_extra_enabled(tmp_path):
    pytest.importorskip("allauth")
    own = {
        "SECOND_FACTOR": "optional",
        "OIDC_NAME": "Example Login",
        "OIDC_ISSUER": f"http://127.0.0.1:{free_port()}",
    }
    database = {"DATABASE_URL": f"sqlite:///{tmp_path / 'extra.sqlite3'}"}

    alone = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    cases = (str(Path(__file__).with_name(name)) for name in CASES)
    run = python("-m", "pytest", *alone, *cases, **OIDC, **own, **database)

    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    assert re.search(r"\d\d passed", run.stdout)


ALONE = """
import django; django.setup()
from django.core.management import call_command
from django.test import Client
call_command("check")
call_command("migrate", verbosity=0)
client = Client(headers={"host": "localhost"})
page = client.get("/account/login").text
there = client.get("/admin/login/?next=/admin/").status_code, client.get("/admin/")["Location"]
print(there, "passkey" in page, "OpenID Connect" in page)
"""


@pytest.mark.slow("starts Django in processes")
@pytest.mark.parametrize(
    ("variables", "offered"),
    [
        ({"SECOND_FACTOR": "required"}, "True False"),
        ({"OIDC_ISSUER": "https://id.example"} | OIDC, "False True"),
    ],
)
def test_each_can_be_enabled_alone(tmp_path, variables, offered):
    pytest.importorskip("allauth")
    copy_template(tmp_path / "extra.sqlite3")  # `migrate` adds the tables of the extra
    database = {"DATABASE_URL": f"sqlite:///{tmp_path / 'extra.sqlite3'}"}

    run = python("-c", ALONE, DJANGO_SETTINGS_MODULE="jobsite.settings", **variables, **database)

    assert run.returncode == 0, run.stderr[-3000:]
    assert f"(302, '/admin/login/?next=/admin/') {offered}" in run.stdout


@pytest.mark.parametrize(
    "variables", [{"SECOND_FACTOR": "optional"}, {"OIDC_ISSUER": "https://id.example"}]
)
def test_missing_extra_is_an_error(variables):
    """An import finder hides the package."""
    script = (
        "import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'allauth' else find(name, *rest)\n"
        "import jobsite.settings"
    )

    run = python("-c", script, **variables)

    assert run.returncode != 0
    assert re.search("ImproperlyConfigured.*requirements-sso.txt", run.stderr, re.DOTALL)

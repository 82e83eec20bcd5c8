"""`make demo` in a checkout: progress of the installation, and errors."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.servers import ROOT, SYSTEM_ENV

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="there is no make here")

# A Python that differs in one thing, and runs what it is given.
FAKE = (
    '#!/bin/sh\nif [ "$1" = -c ]; then exec {python} -c "import sys; {change}; '
    'exec(sys.argv.pop(1))" '
    '"$2" "$3" "$4"; fi\nexec {python} "$@"\n'
)
# A pip that takes its time, in a folder of PYTHONPATH.
PIP = """
import sys, time
print("Collecting alpha==1.0", flush=True)
print("  Downloading alpha-1.0.whl", flush=True)
while not __import__("os").path.exists({marker!r}): time.sleep(0.05)
print("Installing collected packages: alpha, beta", flush=True)
if {code}: print("ERROR: No matching distribution found for beta", file=sys.stderr)
sys.exit({code})
"""


@pytest.fixture
def checkout(tmp_path):
    """A folder with the files that make needs before Django is installed."""
    folder = tmp_path / "checkout"
    (folder / "deploy").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "deploy/install.py", folder / "deploy")
    (folder / "requirements.txt").write_text("alpha==1.0 \\\n    --hash=sha256:00\nbeta[x]==2\n")
    (folder / "manage.py").write_text("import sys; print('manage.py', *sys.argv[1:])")
    return folder


def make(folder, *words, **kwargs):
    how = {"env": SYSTEM_ENV, "capture_output": True, "text": True, "timeout": 120, **kwargs}
    return subprocess.run(["make", *words], cwd=folder, **how)


def fake(folder, change):
    path = folder / "fake-python"
    path.write_text(FAKE.format(python=sys.executable, change=change))
    path.chmod(0o755)
    return path


def refused(folder, python, **kwargs):
    """Return the first line of the error of make demo, which does nothing else."""
    done = make(folder, "demo", f"PYTHON={python}", **kwargs)
    assert (done.returncode, done.stdout) == (2, "")
    assert not (folder / ".venv").exists()
    return done.stderr.splitlines()[0]


def test_missing_or_unsuitable_python_is_reported_with_the_reason(checkout):
    assert (
        refused(checkout, "") == "No Python 3.11 or newer was found. Set PYTHON=/path/to/python3."
    )
    assert refused(checkout, "/no/python") == "PYTHON is /no/python, which is no program."
    python = fake(checkout, "sys.version_info = (3, 8, 18)")
    assert refused(checkout, python) == (
        f"{python} is Python 3.8; 3.11 or newer is needed. Set PYTHON=/path/to/python3."
    )
    fake(checkout, "sys.modules['ensurepip'] = None")
    assert refused(checkout, python) == (
        f"{python} cannot make a virtual environment (import of ensurepip halted; None in "
        "sys.modules). On Debian and Ubuntu: apt install python3-venv."
    )


@pytest.fixture
def read_only(checkout):
    """A checkout that is read-only for another user, and that user: root can write anywhere."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "checkout")
        shutil.copytree(checkout, folder)
        Path(name).chmod(0o755)
        folder.chmod(0o555)
        yield folder, {"user": "nobody", "extra_groups": []} if os.getuid() == 0 else {}
        folder.chmod(0o755)


def test_read_only_folder_is_reported(read_only):
    folder, visitor = read_only
    python = "/usr/bin/python3" if visitor else sys.executable  # ours may be in root's home
    test = "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"
    if not Path(python).exists() or subprocess.run([python, "-c", test], check=False).returncode:
        pytest.skip(f"{python} will not do for another reason")

    assert refused(folder, python, **visitor) == (
        f"{folder} cannot be written to, and the environment .venv belongs there. Set "
        "VENV=/another/folder."
    )


@pytest.fixture
def run_demo(checkout, monkeypatch, tmp_path):
    """Return a function that runs make demo with a pip that waits until its progress was printed,
    and ends with a code. It returns the exit code, the lines and stderr.
    """
    script = (checkout / "deploy/install.py").read_text()
    assert script.count("INTERVAL = 5") == 1
    (checkout / "deploy/install.py").write_text(script.replace("INTERVAL = 5", "INTERVAL = 0.2"))
    folder, go_on, venv = tmp_path / "packages", tmp_path / "go on", checkout / ".venv/bin"
    folder.mkdir()
    venv.mkdir(parents=True)
    (venv / "python").symlink_to(sys.executable)
    monkeypatch.setitem(SYSTEM_ENV, "PYTHONPATH", str(folder))

    def run_demo(code):
        (folder / "pip.py").write_text(PIP.format(marker=str(go_on), code=code))
        lines, command = [], ["make", "demo", "PORT=8001"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=checkout, env=SYSTEM_ENV, **pipes) as process:
            deadline = time.monotonic() + 60
            for line in process.stdout:
                assert time.monotonic() < deadline
                lines.append(line.rstrip("\n"))
                if line.endswith(" s: package 1 of 2, alpha\n"):
                    go_on.touch()
            err = process.stderr.read()
        return process.returncode, lines, err

    return run_demo


@pytest.mark.slow("runs make in processes")
def test_progress_is_printed_while_pip_is_slow(checkout, run_demo):
    code, lines, err = run_demo(0)

    assert (code, err) == (0, "")
    assert lines[0] == "Installing the 2 packages of requirements.txt ..."
    assert any(line.endswith(" s: package 1 of 2, alpha") for line in lines[1:])
    assert lines[-3].startswith("Installed in ")
    assert lines[-2:] == [
        ".venv/bin/python manage.py demo --port 8001",
        "manage.py demo --port 8001",
    ]
    again = make(checkout, "demo")
    assert again.stdout == ".venv/bin/python manage.py demo \nmanage.py demo\n"


@pytest.mark.slow("runs make in processes")
def test_errors_of_pip_are_printed(checkout, run_demo):
    code, _, err = run_demo(1)

    assert code == 2
    assert err.splitlines()[:2] == [
        "ERROR: No matching distribution found for beta",
        "pip could not install requirements.txt, see above.",
    ]
    assert not (checkout / ".venv/.run").exists()


@pytest.mark.slow("creates an environment")
def test_make_demo_creates_an_environment(checkout):
    """Without packages, so that no registry is used."""
    (checkout / "requirements.txt").write_text("")

    done = make(checkout, "demo", f"PYTHON={sys.executable}")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == [
        f"Making the environment .venv with Python {sys.version.split()[0]} ...",
        "Installing the 0 packages of requirements.txt ...",
    ]
    assert done.stdout.endswith("manage.py demo\n")

"""What is installed is what is pinned: hashed, from no index by name, nothing with a known hole."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent.parent
PINNED = sorted(ROOT.glob("requirements*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUN, DEV = PROJECT["project"]["dependencies"], PROJECT["dependency-groups"]["dev"]
OF_ALL = ("requirements-dev.txt", "requirements-next.txt")
# The first releases without the holes that SECURITY.md is about.
FLOORS = {
    "django": "5.2.19",
    "djangorestframework": "3.18.2",
    "pillow": "13.0.0",
    "gunicorn": "27.0.1",
}


def requirements(path: Path) -> list[tuple[Requirement, int]]:
    """Each requirement, and how many hashes it has."""
    lines = path.read_text().replace("\\\n", " ").splitlines()
    found = [line.split("--hash=") for line in lines if line.strip() and not line.startswith("#")]
    return [(Requirement(words[0].strip()), len(words) - 1) for words in found]


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.name)
def test_pins_are_hashed_and_above_the_floors(path):
    pins = requirements(path)
    assert not re.search(r"://|--index|--find-links", path.read_text())
    for requirement, hashes in pins:
        assert re.fullmatch(r"==[\w.]+", str(requirement.specifier)), requirement
        assert hashes, requirement
    wanted = RUN if path.name == "requirements.txt" else RUN + DEV if path.name in OF_ALL else []
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        found = [str(pin.specifier)[2:] for pin, _ in pins if canonicalize_name(pin.name) == name]
        assert found, requirement
        assert all(requirement.specifier.contains(version) for version in found), requirement
    versions = {r.name.lower(): Version(str(r.specifier)[2:]) for r, _ in pins}
    assert {name for name, floor in FLOORS.items() if versions[name] < Version(floor)} == set()


def test_a_package_has_one_version():
    """What the tests run with is what is installed, with single sign-on too."""
    run, sso, dev = (
        {str(pin) for pin, _ in requirements(ROOT / f"requirements{name}.txt")}
        for name in ("", "-sso", "-dev")
    )
    assert (run - sso, run - dev) == (set(), set())


def test_what_the_project_asks_for_is_above_the_floors():
    specifiers = {Requirement(line).name.lower(): Requirement(line).specifier for line in RUN}
    for name, floor in FLOORS.items():
        least = [Version(each.version) for each in specifiers[name] if each.operator == ">="]
        assert least, name
        assert least[0] >= Version(floor), name

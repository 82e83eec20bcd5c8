"""Generated files that are committed: pinned requirements and compiled translations."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUN, DEV = PROJECT["project"]["dependencies"], PROJECT["dependency-groups"]["dev"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("requirements.txt", RUN), ("requirements-dev.txt", RUN + DEV), ("requirements-next.txt", RUN + DEV)],
)
def test_pins_satisfy_the_project(name, wanted):
    text = (ROOT / name).read_text()
    pins = {}
    for package, version in re.findall(r"^([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==(\S+)", text, re.MULTILINE):
        pins.setdefault(canonicalize_name(package), []).append(version)

    for requirement in map(Requirement, wanted):
        versions = pins[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in versions), requirement
    assert "://" not in text
    assert text.count("--hash=sha256:") >= sum(map(len, pins.values()))

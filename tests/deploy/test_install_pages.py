"""The settings that install.md and cluster.md write. tests/deploy/install_page.py runs all commands
of the first page on a plain Debian.
"""

import re
import subprocess

import pytest

from tests.servers import ROOT


@pytest.mark.parametrize("page", ["install", "cluster"])
def test_settings_name_the_host_and_have_keys(page, tmp_path):
    file = tmp_path / "env"
    file.write_text((ROOT / ".env.example").read_text())
    text = (ROOT / f"docs/operations/{page}.md").read_text()
    [commands] = re.findall(r"^key\(\) .*?(?=^```)", text, re.MULTILINE | re.DOTALL)

    script = f"DOMAIN=jobs.ghent.be\n{commands.replace('/etc/jobsite/env', str(file))}"
    subprocess.run(["sh", "-ec", script], check=True)

    found = dict(re.findall(r"^([A-Z_]+)=(.*)$", file.read_text(), re.MULTILINE))
    names = ("ALLOWED_HOSTS", "PUBLIC_BASE_URL", "DEFAULT_FROM_EMAIL")
    assert [found[name] for name in names] == [
        "jobs.ghent.be",
        "https://jobs.ghent.be",
        "jobs@jobs.ghent.be",
    ]
    keys = {found["SECRET_KEY"], found["BACKUP_KEY"]}
    assert (len(keys), min(map(len, keys)) >= 50) == (2, True)


def test_every_machine_gets_a_time_service():
    """Without one, the alert ClockSkew fires from the first day."""
    for page, kinds in (("install", 1), ("cluster", 2)):
        text = (ROOT / f"docs/operations/{page}.md").read_text().replace("\\\n", " ")
        installed = [
            set(line.split()) for line in re.findall(r"^apt-get install.*$", text, re.MULTILINE)
        ]
        machines = [words for words in installed if words & {"nginx", "postgresql-common"}]
        assert (page, len(machines)) == (page, kinds)
        assert all("systemd-timesyncd" in words for words in machines), page

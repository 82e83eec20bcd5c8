"""Run the commands of docs/operations/install.md on a plain Debian, step by step, and print each result.

    debootstrap --include=systemd-sysv bookworm /var/tmp/debian
    python -m tests.deploy.install_page /var/tmp/debian [OPTIONS OF SYSTEMD-NSPAWN, for a mirror of packages]

Needs root and systemd-container. Steps 1 and 2, which download, run in the root without systemd; the others
on a booted one without a network. Step 9 needs a public name, and is left out; so is the password of step 5.
"""

import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/operations/install.md"
SOURCE = "/mnt/source.git"  # of the code, in the machine
BEFORE = f"set -e\nexport DOMAIN=jobs.example.test REPOSITORY={SOURCE} DEBIAN_FRONTEND=noninteractive\n"
# What the page asks the reader to type.
ANSWERS = {
    "manage.py createsuperuser": "DJANGO_SUPERUSER_PASSWORD=long-password-of-anna "
    "manage.py createsuperuser --no-input --username anna --email anna@example.test"
}
EDIT = "sed -i /etc/jobsite/env -e 's|^EMAIL_URL=.*|EMAIL_URL=smtp://127.0.0.1:25|'"  # no TLS on this machine


def steps() -> dict[int, str]:
    """Return the commands of each step, by its number."""
    text = PAGE.read_text().split("## Install on Debian 12")[1].split("\n## ")[0]
    parts = re.split(r"^\*\*(\d+)\. ", text, flags=re.MULTILINE)[1:]
    found = {}
    for number, body in zip(parts[::2], parts[1::2], strict=True):
        blocks = re.findall(r"^```sh\n(.*?)^```", body, re.MULTILINE | re.DOTALL)
        found[int(number)] = "".join(blocks)
    return found


def main(machine: str, *options: str) -> int:
    commands = steps()
    folder = Path(machine, "mnt/source.git")
    subprocess.run(["rm", "-rf", folder], check=True)
    subprocess.run(["git", "clone", "--quiet", "--bare", ROOT, folder], check=True)
    subprocess.run(["chown", "-R", "root:root", folder], check=True)
    nspawn = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", *options, "-D", machine]
    for number in (1, 2):
        done = subprocess.run([*nspawn, "bash", "-c", BEFORE + commands[number]], check=False)
        print(f"step {number}: exit {done.returncode}", flush=True)
        if done.returncode:
            return 1
    script = BEFORE
    for number in range(3, 9):
        code = commands[number]
        for typed, command in ANSWERS.items():
            code = code.replace(typed, command)
        code += EDIT if number == 4 else ""
        script += f"echo '--- step {number}'\n{code}\n"
    Path(machine, "root/steps.sh").write_text(script + "echo '--- all steps'\n")
    unit = (
        "[Service]\nType=oneshot\nStandardOutput=file:/root/steps.log\nStandardError=file:/root/steps.log\n"
    )
    unit += f"ExecStart={shlex.join(['/bin/bash', '/root/steps.sh'])}\nExecStopPost=/bin/systemctl poweroff\n"
    Path(machine, "etc/systemd/system/steps.service").write_text(
        unit + "[Install]\nWantedBy=multi-user.target\n"
    )
    subprocess.run([*nspawn, "systemctl", "enable", "--quiet", "steps.service"], check=True)
    log = Path(machine, "root/steps.log")
    log.unlink(missing_ok=True)
    started_at = time.monotonic()
    subprocess.run([*nspawn, "--private-network", "--boot"], check=False, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, timeout=1200)  # fmt: skip
    print(log.read_text())
    print(f"steps 3 to 8: {time.monotonic() - started_at:.0f} s")
    return 0 if "--- all steps" in log.read_text() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

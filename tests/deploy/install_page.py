"""Run the commands of docs/operations/install.md on a plain Debian, step by step, then those of
monitor.md and incidents.md that change nothing, and print each result.

    debootstrap --include=systemd-sysv,dbus bookworm /var/tmp/debian python -m
    tests.deploy.install_page /var/tmp/debian [OPTIONS OF SYSTEMD-NSPAWN, for a mirror of packages]

Needs root and systemd-container. Steps 1 and 2, which download, run in the root without systemd;
the others on a booted one without a network. Step 9 needs a public name, and is left out; so is the
password of step 5.
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
BEFORE = (
    f"set -e\nexport DOMAIN=jobs.example.test REPOSITORY={SOURCE} DEBIAN_FRONTEND=noninteractive\n"
)
# What the page asks the reader to type.
ANSWERS = {
    "manage.py createsuperuser": "DJANGO_SUPERUSER_PASSWORD=long-password-of-anna manage.py "
    "createsuperuser --no-input --username anna --email anna@example.test"
}
EDIT = "sed -i /etc/jobsite/env -e 's|^EMAIL_URL=.*|EMAIL_URL=smtp://127.0.0.1:25|'"  # without TLS
EDIT += " -e 's|^#METRICS_PORT|METRICS_PORT|'"


def steps() -> dict[int, str]:
    """Return the commands of each step, by its number."""
    text = PAGE.read_text().split("## Install on Debian 12")[1].split("\n## ")[0]
    parts = re.split(r"^\*\*(\d+)\. ", text, flags=re.MULTILINE)[1:]
    found = {}
    for number, body in zip(parts[::2], parts[1::2], strict=True):
        blocks = re.findall(r"^```sh\n(.*?)^```", body, re.MULTILINE | re.DOTALL)
        found[int(number)] = "".join(blocks)
    return found


READS = (
    "curl -s ",
    "journalctl -u",
    "log ",
    "manage.py audit",
    "manage.py dbshell",
    "nginx -t",
    "redis-cli ",
    "systemctl list",
    "systemctl status",
)
NOT_HERE = ("--database replica", "haproxy", "certbot")  # of a cluster, or of step 9


def runbook() -> str:
    """Return a script that runs the commands of the runbook and prints those that fail."""
    monitor, incidents = (
        (ROOT / f"docs/operations/{name}.md").read_text() for name in ("monitor", "incidents")
    )
    blocks = [
        re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for text in (monitor, incidents)
    ]
    queries = re.findall(r"^```sql\n(.*?)^```", incidents, re.MULTILINE | re.DOTALL)
    queries += re.findall(r"`(select [^`]+)`", incidents)
    start = blocks[1][0]  # its functions are used below it
    inline = [each for each in re.findall(r"`([^`\n]+)`", incidents) if each.startswith(READS)]
    commands = [*(block.replace(" -f ", " ") for block in blocks[0]), *blocks[1]]
    commands += [
        f"{start}\n{each}" for each in inline if not any(name in each for name in NOT_HERE)
    ]
    commands += [
        f"runuser -u postgres -- psql -qd jobsite -c {shlex.quote(each)}"
        for each in queries
        if "replay" not in each
    ]
    script = "echo '--- runbook'\n"
    for each in commands:
        run = f"timeout 60 bash -c {shlex.quote(each)} > /root/out 2>&1"
        script += f"{run} || {{ echo FAILED: {shlex.quote(each)}; cat /root/out; }}\n"
    return f"{script}echo '--- {len(commands)} commands of the runbook'\n"


def main(machine: str, *options: str) -> int:
    commands = steps()
    folder = Path(machine, "mnt/source.git")
    subprocess.run(["rm", "-rf", folder], check=True)
    subprocess.run(["git", "clone", "--quiet", "--bare", ROOT, folder], check=True)
    subprocess.run(["chown", "-R", "root:root", folder], check=True)
    nspawn = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", *options, "-D", machine]
    # They were run before.
    for number in (1, 2) if not Path(machine, "srv/jobsite").exists() else ():
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
    Path(machine, "root/steps.sh").write_text(script + "echo '--- all steps'\nset +e\n" + runbook())
    unit = "[Service]\nType=oneshot\n"
    unit += "StandardOutput=file:/root/steps.log\nStandardError=file:/root/steps.log\n"
    unit += f"ExecStart={shlex.join(['/bin/bash', '/root/steps.sh'])}\nExecStopPost=/bin/systemctl poweroff\n"
    Path(machine, "etc/systemd/system/steps.service").write_text(
        unit + "[Install]\nWantedBy=multi-user.target\n"
    )
    subprocess.run([*nspawn, "systemctl", "enable", "--quiet", "steps.service"], check=True)
    log = Path(machine, "root/steps.log")
    log.unlink(missing_ok=True)
    started_at = time.monotonic()
    subprocess.run(
        [*nspawn, "--private-network", "--boot"],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=1200,
    )
    print(log.read_text())
    print(f"steps 3 to 8: {time.monotonic() - started_at:.0f} s")
    return 0 if "--- all steps" in log.read_text() and "FAILED" not in log.read_text() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

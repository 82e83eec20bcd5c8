"""Install a requirements file with pip and print the progress every few seconds, for the Makefile.

Further arguments are options of pip. It needs only the standard library. pip's errors go to stderr
unchanged.
"""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

INTERVAL = 5  # seconds between two lines


def main(requirements: str, *options: str) -> int:
    count = len(
        re.findall(r"^[\w.-]+(?:\[[^]]*\])?==", Path(requirements).read_text(), re.MULTILINE)
    )
    print(f"Installing the {count} packages of {requirements} ...", flush=True)
    started_at, status = time.monotonic(), ["starting pip"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
    ]
    with subprocess.Popen(
        [*command, *options, "-r", requirements], stdout=subprocess.PIPE, text=True
    ) as pip:
        assert pip.stdout

        def read(lines=pip.stdout) -> None:
            found = 0
            for line in lines:
                if match := re.match(
                    r"(?:Collecting|Requirement already satisfied:) ([\w.-]+)", line
                ):
                    found += 1
                    status[0] = f"package {found} of {count}, {match[1]}"
                elif line.startswith("Installing collected packages"):
                    status[0] = f"writing {line.count(',') + 1} packages to the environment"

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        while True:
            try:
                code = pip.wait(timeout=INTERVAL)
                break
            except subprocess.TimeoutExpired:
                print(f"  {time.monotonic() - started_at:.0f} s: {status[0]}", flush=True)
            except KeyboardInterrupt:
                pip.wait()
                print("Interrupted. Run the command again to install the rest.", file=sys.stderr)
                return 130
        reader.join(timeout=INTERVAL)
    if code:
        print(f"pip could not install {requirements}, see above.", file=sys.stderr)
        return code
    print(f"Installed in {time.monotonic() - started_at:.0f} s.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

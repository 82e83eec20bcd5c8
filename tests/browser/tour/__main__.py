"""Runs the tour and prints its figures."""

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Error, sync_playwright

from tests.browser.programs import browser_path
from tests.browser.tour.hand import Hand, NotPossibleError
from tests.browser.tour.screens import screens
from tests.browser.tour.tasks import TASKS

HERE = Path(__file__).resolve().parents[3]
PORT = 28_917


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=HERE, help="folder of the checkout to measure")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--only", choices=list(TASKS), nargs="+", default=list(TASKS))
    parser.add_argument(
        "--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"), help="print two files"
    )
    options = parser.parse_args()
    if options.compare:
        print(table(*(json.loads(path.read_text()) for path in options.compare)))
        return
    python = str(options.site / ".venv/bin/python")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(options.site, python, Path(folder)) as site,
    ):
        figures = run(site, options.only)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    print(table(figures))


# --- the site ------------------------------------------------------------------------------------


@contextmanager
def served(checkout: Path, python: str, folder: Path) -> Iterator[str]:
    """Serve the demo of `checkout` with the rows of content.py."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DATABASE", "SECRET"))
    }
    env |= {
        "DATABASE_URL": f"sqlite:///{folder / 'tour.sqlite3'}",
        "MEDIA_ROOT": str(folder / "media"),
        "PRIVATE_ROOT": str(folder / "private"),
        "RATE_LIMIT": "off",
        "PYTHONPATH": str(checkout),
        "CAREER_SITE": "on",
    }

    def manage(*words: str) -> None:
        command = [python, "manage.py", *words]
        subprocess.run(command, cwd=checkout, env=env, check=True, stdout=subprocess.DEVNULL)

    manage("demo", "--no-serve")
    manage("shell", "-c", Path(__file__).with_name("content.py").read_text())
    command = [python, "manage.py", "runserver", f"127.0.0.1:{PORT}", "--noreload"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=checkout, env=env, stdout=log, stderr=log)
    try:
        site = f"http://127.0.0.1:{PORT}"
        wait_for(f"{site}/admin/login/")
        yield site
    finally:
        server.terminate()
        server.wait()


def wait_for(url: str) -> None:
    end = time.monotonic() + 180
    while True:
        try:
            urlopen(url, timeout=60).read()
        except (URLError, OSError):
            if time.monotonic() > end:
                raise
            time.sleep(1)
        else:
            return


# --- the tour ------------------------------------------------------------------------------------


def run(site: str, names: list[str]) -> dict[str, Any]:
    figures = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        for name in names:
            text, user, function = TASKS[name]
            context = browser.new_context(viewport={"width": 1400, "height": 1000}, locale="en")
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.on("dialog", lambda dialog: dialog.accept())
            sign_in(page, site, user)
            hand = Hand(page, site)
            figures[name] = {"task": text} | figures_of(function, hand)
            print(f"{name}: {figures[name]}", flush=True)
            context.close()
        print(
            *(f"{title}: {number}" for title, number in screens(browser, site, sign_in).items()),
            sep="\n",
        )
        browser.close()
    return figures


def figures_of(function: Any, hand: Hand) -> dict[str, Any]:
    try:
        function(hand)
    except NotPossibleError:
        lines = re.findall(r"tasks\.py\", line (\d+)", traceback.format_exc())
        page = hand.page.url.rpartition("/admin/")[2] or "the start page"
        return {
            "is_possible": False,
            "why": f"nothing to use at {page} (tasks.py, line {lines[-1]})",
        }
    except (AssertionError, Error) as error:
        return {"is_possible": False, "why": str(error).splitlines()[0]}
    return {
        "is_possible": True,
        "clicks": hand.clicks,
        "keys": hand.keys,
        "pages": hand.pages,
        "seconds": round(hand.seconds, 1),
        "server_seconds": round(hand.waited, 1),
    }


def sign_in(page: Any, site: str, name: str) -> None:
    """The password of an account of the demo is its name."""
    page.goto(f"{site}/admin/", wait_until="load")
    page.fill("#id_username", name)
    page.fill("#id_password", name)
    with page.expect_navigation(url="**/admin/", timeout=120_000):
        page.press("#id_password", "Enter")


# --- figures -------------------------------------------------------------------------------------


def table(*runs: dict[str, Any]) -> str:
    """Return the figures as Markdown: one run, or before and after."""
    names = ["before", "after"][: len(runs)] if len(runs) > 1 else [""]
    heads = [
        f"{name} {column}".strip() for name in names for column in ("clicks", "keys", "seconds")
    ]
    lines = [f"| task | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for name, (text, _, _) in TASKS.items():
        cells = [cell for figures in runs for cell in cells_of(figures.get(name))]
        lines.append(f"| {text} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cells_of(figures: dict[str, Any] | None) -> list[str]:
    if figures is None:
        return ["", "", ""]
    if not figures["is_possible"]:
        return ["not possible", "-", "-"]
    return [str(figures["clicks"]), str(figures["keys"]), f"{figures['seconds']:.0f}"]


if __name__ == "__main__":
    main()

"""Checks of pages with axe: every rule on the whole page, contrast in the dark too;
and their width.
"""

import json
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.bars import covered

# axe leaves this rule of WCAG 2.2 (2.5.8) off by default.
OPTIONS = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}
RUN = f"""async ([within, only]) => {{
  document.getAnimations().forEach((each) => each.finish()); // colours that are under way
  return (await axe.run(within, {{...{json.dumps(OPTIONS)}, ...only}})).violations;
}}"""
COLOURS = ("color-contrast", "link-in-text-block")
WIDE, NARROW = {"width": 1400, "height": 1000}, {"width": 320, "height": 800}
# unfold reads the preferred colours only when a page is loaded
SHOW = """async (scheme) => {
  document.documentElement.classList.toggle("dark", scheme === "dark");
  await new Promise(requestAnimationFrame);
}"""


def findings(
    page: Any, place: str = "", *, only: tuple[str, ...] = (), within: str = "html"
) -> list[str]:
    """Return all findings of axe on the page as it is displayed now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    options = {"runOnly": {"type": "rule", "values": list(only)}} if only else {}
    return [
        f"{place or page.url}: {each['id']}: {' '.join(node['html'].split())[:200]}"
        for each in page.evaluate(RUN, [within, options])
        for node in each["nodes"]
    ]


def both_findings(page: Any, place: str = "", within: str = "html") -> list[str]:
    """Return all findings, those of colours also in the dark."""
    found = []
    for scheme, only in (("dark", COLOURS), ("light", ())):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.evaluate(SHOW, scheme)
        found += findings(page, f"{place or page.url} ({scheme})", only=only, within=within)
    return found


def all_findings(page: Any, place: str = "") -> list[str]:
    """Return the findings of both colour schemes, what a bar covers when it has the focus, and
    whether the page is too wide for phones.
    """
    found = both_findings(page, place)
    page.set_viewport_size(NARROW)
    width = page.evaluate("document.documentElement.scrollWidth")
    found += [f"{place or page.url}: {each}" for each in covered(page)]
    page.set_viewport_size(WIDE)
    return found + (
        [f"{place or page.url}: {width} pixels wide"] if width > NARROW["width"] else []
    )


class Console:
    """What the browser reports on the pages of one window: its errors and warnings."""

    def __init__(self, page: Any) -> None:
        self.reported: list[str] = []
        self.expected = ""
        page.on("console", self._heard)
        page.on("requestfailed", lambda request: self.reported.append(f"failed: {request.url}"))

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            url = message.location.get("url", "")
            if not (self.expected and url.endswith(self.expected)):  # the status of the page itself
                self.reported.append(f"{url}: {message.text}")

"""Checks of pages with axe: every rule, on the whole page, light and dark, wide and narrow."""

import json
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT

# axe leaves this rule of WCAG 2.2 (2.5.8) off by default.
OPTIONS = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}
RUN = f"""async (only) => {{
  document.getAnimations().forEach((each) => each.finish()); // colours that are under way
  return (await axe.run(document, {{...{json.dumps(OPTIONS)}, ...only}})).violations;
}}"""
# What the colours and the width of the window can change.
PARTIAL = ("color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block")
WIDE, NARROW = {"width": 1400, "height": 1000}, {"width": 320, "height": 800}
STATES = (("light", WIDE), ("dark", WIDE), ("light", NARROW), ("dark", NARROW))
# unfold reads the preferred colours only when a page is loaded
SHOW = """async (scheme) => {
  document.documentElement.classList.toggle("dark", scheme === "dark");
  await new Promise(requestAnimationFrame);
}"""


def findings(page: Any, place: str = "", *, only: tuple[str, ...] = ()) -> list[str]:
    """Return all findings of axe on the page as it is displayed now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    options = {"runOnly": {"type": "rule", "values": list(only)}} if only else {}
    return [
        f"{place or page.url}: {each['id']}: {' '.join(node['html'].split())[:200]}"
        for each in page.evaluate(RUN, options)
        for node in each["nodes"]
    ]


def all_findings(page: Any, place: str = "") -> list[str]:
    """Return the findings in both colour schemes and at both widths, and whether the page is too wide."""
    found = []
    for number, (scheme, size) in enumerate(STATES):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size(size)
        page.evaluate(SHOW, scheme)
        where = f"{place or page.url} ({scheme}, {size['width']})"
        found += findings(page, where, only=() if number in (0, 3) else PARTIAL)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > size["width"]:
            found.append(f"{where}: {width} pixels wide")
    page.set_viewport_size(WIDE)
    return found


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

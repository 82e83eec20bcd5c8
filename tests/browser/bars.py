"""What bars that stick to an edge of the window cover (WCAG 2.2, 2.4.11)."""

from typing import Any

COVERED = """() => {
  const bar = (element) => {
    while (element && !["sticky", "fixed"].includes(getComputedStyle(element).position))
      element = element.parentElement;
    return element;
  };
  const covering = (target) => {
    const box = target.getBoundingClientRect(), found = new Set();
    if (!box.width || !box.height) return found;
    for (const x of [box.left + 1, (box.left + box.right) / 2, box.right - 1])
      for (const y of [box.top + 1, (box.top + box.bottom) / 2, box.bottom - 1]) {
        const top = document.elementFromPoint(x, y), over = top && bar(top);
        if (!over || over.contains(target) || target.contains(top)) return new Set();
        found.add(over.id || over.className);
      }
    return found;
  };
  const found = new Set();
  const focusable = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
  const targets = [...document.querySelectorAll(focusable)].filter((each) => each.checkVisibility());
  for (const order of [targets, targets.toReversed()]) for (const target of order) {
    target.focus();
    if (document.activeElement !== target) continue;
    for (const bar of covering(target)) found.add(`${bar} covers ${target.outerHTML.slice(0, 90)}`);
  }
  document.activeElement?.blur();
  return [...found];
}"""


def covered(page: Any) -> list[str]:
    """Return what a bar covers wholly when it gets the focus by Tab, or by Shift and Tab."""
    found: list[str] = page.evaluate(COVERED)
    return found

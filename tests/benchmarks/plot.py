"""Plot the results of compare.py --json at several sizes:

    python -m tests.benchmarks.plot a.json b.json c.json --folder docs/images

cost-by-size.svg: CPU by number of vacancies; cost-by-page.svg: CPU by page number. It also prints
the cost of the first pages at each size relative to the smallest size.
"""

import argparse
import json
import math
from html import escape
from pathlib import Path
from typing import Any

SIZES = {  # lines of the first plot: case and application
    "warm list": ("warm", "ours"),
    "cold list": ("cold", "ours"),
    "cold search": ("searched", "ours"),
    "cold single": ("single", "ours"),
    "naive list": ("cold", "naive"),
    "naive search": ("searched", "naive"),
}
# Seen on white and on black.
COLOURS = ["#2f7ed8", "#d9534f", "#2e9e5b", "#c98a1b", "#8d63c9", "#7a8791"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 70, 170, 40, 50
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #333 } .title { font-weight: 600 }
  .paper { fill: #fff } .grid { stroke: #ddd } .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .paper { fill: #16191d } .grid { stroke: #3a4048 }
  }
"""

MIDDLE = 'text-anchor="middle"'

Points = list[tuple[float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("."))
    options = parser.parse_args()
    reports = sorted(
        (json.loads(file.read_text()) for file in options.reports), key=lambda r: r["vacancies"]
    )
    by_size: dict[str, Points] = {name: [] for name in SIZES}
    by_page: dict[str, Points] = {}
    firsts: dict[int, float] = {}
    for report in reports:
        cases = {case["key"]: case for case in report["cases"]}
        for name, (key, app) in SIZES.items():
            if app in cases.get(key, {}):
                by_size[name].append((report["vacancies"], cost(cases[key][app])))
        for app in ("ours", "naive"):
            points = [(case["page"], cost(case[app])) for case in cases.values() if case["page"]]
            by_page[f"{app}, {report['vacancies']:,}"] = sorted(points)
        if "pages-0" in cases:
            firsts[report["vacancies"]] = cost(cases["pages-0"]["ours"])
    for size, ms in firsts.items():
        ratio = ms / firsts[min(firsts)]
        print(f"First pages at {size}: {ms:.2f} ms, {ratio:.2f} times the smallest site's.")
    for file, title, x, lines in (
        (
            "cost-by-size.svg",
            "Cost of an answer by number of vacancies",
            "published vacancies",
            by_size,
        ),
        (
            "cost-by-page.svg",
            "Cost of a cold page of 20 by its number",
            "number of the page",
            by_page,
        ),
    ):
        if shown := {name: points for name, points in lines.items() if points}:
            drawn = chart(title, x, "CPU ms, application + database", shown)
            (options.folder / file).write_text(drawn)


def cost(sample: dict[str, Any]) -> float:
    """Return ms of processor time of an answer."""
    return max(0.01, sample["cpu_app"] + sample["cpu_database"])


def chart(title: str, x_name: str, y_name: str, lines: dict[str, Points]) -> str:
    """Return an SVG with both axes logarithmic."""
    xs, ys = zip(*(point for points in lines.values() for point in points), strict=True)
    x_low, x_high, y_low, y_high = (
        bound
        for values in (xs, ys)
        for bound in (
            math.floor(math.log10(min(values))),
            math.ceil(math.log10(max(values) * 1.001)),
        )
    )

    def across(value: float) -> float:
        return LEFT + (math.log10(value) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def down(value: float) -> float:
        return (
            HEIGHT
            - BOTTOM
            - (math.log10(value) - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)
        )

    def text(x: float, y: float, output: str, more: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(output)}</text>'

    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        text(LEFT, 24, title, 'class="title"'),
        text((LEFT + right) / 2, HEIGHT - 12, x_name, MIDDLE),
        text(0, 0, y_name, f'{MIDDLE} transform="translate(18 {(TOP + bottom) / 2}) rotate(-90)"'),
    ]
    for value in (10**power for power in range(x_low, x_high + 1)):
        parts.append(f'<path class="grid" d="M{across(value):.1f} {TOP}V{bottom}"/>')
        parts.append(text(across(value), bottom + 18, f"{value:,}", MIDDLE))
    for value in (10**power for power in range(y_low, y_high + 1)):
        parts.append(f'<path class="grid" d="M{LEFT} {down(value):.1f}H{right}"/>')
        parts.append(text(LEFT - 8, down(value) + 4, f"{value:g}", 'text-anchor="end"'))
    floor = math.inf  # labels from the lowest up, none over another
    for number, (name, points) in sorted(
        enumerate(lines.items()), key=lambda each: each[1][1][-1][1]
    ):
        colour, dashes = (
            COLOURS[number % len(COLOURS)],
            ' stroke-dasharray="5 4"' if "naive" in name else "",
        )
        spots = [(across(x), down(y)) for x, y in points]
        track = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(f'<polyline class="line" stroke="{colour}"{dashes} points="{track}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in spots]
        floor = min(spots[-1][1] + 4, floor - 15)
        parts.append(text(right + 10, floor, name, f'style="fill: {colour}"'))
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    main()

"""Charts as SVG, for inlining into pages.

They have no style and no script: a style sheet sets the colours by class, for light and dark pages.
Series differ by dashes and the shape of their points, and have a legend, so that they are
distinguishable without colour. Charts are hidden from screen readers: pages show the same numbers
as a table. The class is not "chart", because the theme's script draws on elements with that class.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

SERIES_MAX = 6  # styles of series in the style sheet
LABEL_MAX = 38  # characters that fit above a bar on a phone
LEFT, RIGHT, TOP, BOTTOM = 8, 8, 20, 32  # margins around the plot
SHAPES = (  # one per series, in the box -4 to 4
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    "M-3 -3h6v6h-6z",
    "M0 -4L4 3H-4z",
    "M0 -4.5L4.5 0L0 4.5L-4.5 0z",
    "M0 4L4 -3H-4z",
    "M-4 -1h3v-3h2v3h3v2h-3v3h-2v-3h-3z",
)


@dataclass(frozen=True)
class Series:
    name: str
    values: Sequence[float]


def format_value(value: float) -> str:
    """Return `value` in the active language, with at most one decimal."""
    return number_format(int(value) if value == int(value) else round(value, 1))


def px(value: float) -> str:
    """Return a coordinate with one decimal."""
    return f"{value:.1f}"


def nice_ceiling(value: float) -> float:
    """Return the next round number from `value` whose quarter is whole."""
    if value <= 20:
        return next(top for top in (4, 8, 12, 16, 20) if top >= value)
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value)


def sparkline(values: Sequence[float], *, width: int = 120, height: int = 32) -> SafeString:
    """Return a small line without axes. It begins at zero, so that a small change looks small."""
    if len(values) < 2:
        return SafeString("")
    top = max(*values, 1)
    points = [
        (2 + index * (width - 6) / (len(values) - 1), height - 3 - value * (height - 6) / top)
        for index, value in enumerate(values)
    ]
    line = " ".join(f"{x:.1f},{y}" for x, y in points)
    (first, _), (last, end) = points[0], points[-1]
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" aria-hidden="true" focusable="false">'
        '<polygon class="spark-area" points="{},{} {} {},{}"></polygon>'
        '<polyline class="spark-line" points="{}"></polyline>'
        '<circle class="spark-end" cx="{}" cy="{}" r="2.5"></circle></svg>',
        width,
        height,
        px(first),
        height - 3,
        line,
        px(last),
        height - 3,
        line,
        px(last),
        px(end),
    )


def line_chart(
    labels: Sequence[str], series: Sequence[Series], *, width: int = 560, height: int = 260
) -> SafeString:
    """Return lines over the points `labels`, at most SERIES_MAX."""
    series = series[:SERIES_MAX]
    top = nice_ceiling(max((value for each in series for value in each.values), default=0))
    inner, tall = width - LEFT - RIGHT, height - TOP - BOTTOM

    def x(index: int) -> str:
        return px(LEFT + (index + 0.5) * inner / max(len(labels), 1))

    def y(value: float) -> float:
        return TOP + tall - value * tall / top

    lines = []
    for number, each in enumerate(series):
        path = " ".join(f"{x(index)},{y(value)}" for index, value in enumerate(each.values))
        step = max(1, ceil(len(each.values) / 12))  # marks on every point would hide the dashes
        marks = format_html_join(
            "",
            '<path class="plot-mark" transform="translate({} {})" d="{}"><title>{}</title></path>',
            (
                (
                    x(index),
                    px(y(value)),
                    SHAPES[number],
                    f"{each.name}, {labels[index]}: {format_value(value)}",
                )
                for index, value in enumerate(each.values)
                if index % step == (len(each.values) - 1) % step
            ),
        )
        line = (
            '<g class="plot-series is-{}"><polyline class="plot-line" points="{}"></polyline>{}</g>'
        )
        lines.append(format_html(line, number + 1, path, marks))
    every = max(1, ceil(len(labels) / 3))  # more labels would overlap on a phone
    return format_html(
        '<svg class="plot" viewBox="0 0 {} {}" aria-hidden="true" focusable="false">{}{}{}</svg>',
        width,
        height,
        _scale(top, y, LEFT, width - RIGHT),
        format_html_join(
            "",
            '<text class="plot-label" x="{}" y="{}" text-anchor="middle">{}</text>',
            (
                (x(index), height - 8, label)
                for index, label in enumerate(labels)
                if index % every == every // 2
            ),
        ),
        SafeString("".join(lines)),
    )


def _scale(top: float, y: Callable[[float], float], left: float, right: float) -> SafeString:
    """Return horizontal lines with their values above, within the plot:
    large numbers need no margin.
    """
    return format_html_join(
        "",
        '<line class="plot-grid" x1="{0}" y1="{2}" x2="{1}" y2="{2}"></line>'
        '<text class="plot-label" x="{0}" y="{3}">{4}</text>',
        (
            (
                left,
                right,
                px(y(top * part / 4)),
                px(y(top * part / 4) - 4),
                format_value(top * part / 4),
            )
            for part in range(5)
        ),
    )


def legend(series: Sequence[Series]) -> SafeString:
    """Return the names of `series` with their line and shape, as a list."""
    return format_html(
        '<ul class="plot-legend" aria-hidden="true">{}</ul>',
        format_html_join(
            "",
            '<li><svg class="plot-key plot-series is-{}" viewBox="-16 -8 32 16" focusable="false">'
            '<line class="plot-line" x1="-16" y1="0" x2="16" y2="0"></line>'
            '<path class="plot-mark" d="{}"></path></svg>{}</li>',
            ((n + 1, SHAPES[n], each.name) for n, each in enumerate(series[:SERIES_MAX])),
        ),
    )


def bar_chart(rows: Sequence[tuple[str, float]], *, width: int = 480) -> SafeString:
    """Return horizontal bars with their label above and their value at the end."""
    top = max((value for _, value in rows), default=0) or 1
    row, inner = 52, width - 96
    parts = []
    for index, (label, value) in enumerate(rows):
        length, y = max(value * inner / top, 1), index * row
        short = label if len(label) <= LABEL_MAX else f"{label[: LABEL_MAX - 1]}…"
        parts.append(
            (y + 24, short, y + 32, px(length), px(length + 8), y + 44, format_value(value))
        )
    return format_html(
        '<svg class="plot is-bars" viewBox="0 0 {} {}" aria-hidden="true" '
        'focusable="false">{}</svg>',
        width,
        len(rows) * row + 8,
        format_html_join(
            "",
            '<text class="plot-name" x="0" y="{}">{}</text>'
            '<rect class="plot-bar" x="0" y="{}" width="{}" height="14" rx="2"></rect>'
            '<text class="plot-name" x="{}" y="{}">{}</text>',
            parts,
        ),
    )

"""Draw docs/images/*.svg from what was measured and seen: ``python tools/docs/pictures.py``.

The data stand beside the pictures: ``rotation.json`` is what bench/bench_rotation.py wrote, ``growth.json`` what
bench/bench_growth.py wrote, ``event-log.json`` holds lines of three event logs and how often the password stood
in each.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict
from xml.sax.saxutils import escape

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
COLOURS = ("#1b6ca8", "#2a9d57", "#d1802b", "#a83232")
RED, GREY, INK = "#a83232", "#8a8a8a", "#222222"


class Line(TypedDict):
    """One line of growth.json: what so many of something cost."""

    at: list[int]
    of: str
    unit: str
    cost: list[float]


def timeline(ms: dict[str, list[float]]) -> str:
    """How many of the readers have a new value, by the time since it was written."""
    width, height, left, top = 760, 330, 60, 34
    longest = max(each[-1] for each in ms.values())
    across, down = (width - left - 30) / longest, height - top - 60
    parts = [text(left, 18, "Observations that show the new password, by milliseconds since it was written")]
    for share in (0, 50, 100):
        y = top + down * (1 - share / 100)
        parts += [line(left, y, width - 30, y, "#dddddd"), text(left - 8, y + 4, f"{share} %", anchor="end")]
    step = 20 if longest < 200 else 100
    for at in range(0, int(longest) + 1, step):
        x = left + at * across
        parts += [
            line(x, top + down, x, top + down + 5, GREY),
            text(x, top + down + 18, f"{at}", anchor="middle"),
        ]
    for number, (name, each) in enumerate(ms.items()):
        x, y = float(left), top + float(down)
        points = [f"{x:.1f},{y:.1f}"]
        for count, at in enumerate(each, 1):
            x = left + at * across
            points += [f"{x:.1f},{y:.1f}", f"{x:.1f},{(y := top + down * (1 - count / len(each))):.1f}"]
        colour = COLOURS[number]
        parts.append(
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        label = (
            f"{name.removeprefix('rotation -> ')} (n = {len(each)}, median {statistics.median(each):.0f} ms)"
        )
        parts.append(text(width - 40, top + down - 74 + 17 * number, label, colour, anchor="end"))
    return svg(width, height, parts)


def event_log(lines: Sequence[object], value: str) -> str:
    """Lines of event logs; the password is red."""
    parts: list[str] = []
    y = 8
    for each in lines:
        if isinstance(each, list):
            y += 30
            title, times = each
            parts.append(text(16, y, f"{title}: {times} times", RED if times else COLOURS[1], weight="bold"))
        else:
            y += 22
            shown = escape(str(each)).replace(
                value, f'<tspan fill="{RED}" font-weight="bold">{value}</tspan>'
            )
            parts.append(f'<text x="30" y="{y}" font-family="monospace" fill="{INK}">{shown}</text>')
    return svg(760, y + 20, parts)


def growth(lines: Mapping[str, Line]) -> str:
    """One small plot a line, two beside each other: cost over a number that grows tenfold from mark to mark."""
    width, height = 760, 40 + 220 * math.ceil(len(lines) / 2)
    parts = [
        text(
            16,
            22,
            "Cost by the number of references or executors, which is on a logarithmic scale",
            weight="bold",
        )
    ]
    for number, (name, each) in enumerate(lines.items()):
        left, top = 60 + 375 * (number % 2), 76 + 220 * (number // 2)
        across, down = 290, 120
        most = max(each["cost"])
        first, last = (math.log10(each["at"][end]) for end in (0, -1))
        parts.append(text(left, top - 14, f"{name} ({each['unit']})"))
        for share in (0, 0.5, 1):
            y = top + down * (1 - share)
            parts += [
                line(left, y, left + across, y, "#dddddd"),
                text(left - 6, y + 4, f"{most * share:,.3g}", anchor="end"),
            ]
        points = []
        for at, cost in zip(each["at"], each["cost"], strict=True):
            x, y = left + across * (math.log10(at) - first) / (last - first), top + down * (1 - cost / most)
            points.append(f"{x:.1f},{y:.1f}")
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{COLOURS[number]}"/>')
            parts.append(text(x, top + down + 18, f"{at:,}", anchor="middle"))
        parts.append(
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{COLOURS[number]}" stroke-width="2"/>'
        )
        parts.append(text(left + across / 2, top + down + 36, each["of"], GREY, anchor="middle"))
    return svg(width, height, parts)


def svg(width: int, height: int, parts: Sequence[str]) -> str:
    """A whole picture; white behind it, since pages may be dark."""
    box = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *parts, "</svg>\n"])


def line(x: float, y: float, to_x: float, to_y: float, colour: str) -> str:
    """A straight line."""
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}"/>'


def text(
    x: float, y: float, words: str, colour: str = INK, *, anchor: str = "start", weight: str = "normal"
) -> str:
    """A line of text."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-weight="{weight}" fill="{colour}">{escape(words)}</text>'


def pictures() -> dict[str, str]:
    """Return each picture by its file name."""
    rotation = json.loads((IMAGES / "rotation.json").read_text(encoding="utf-8"))
    logs = json.loads((IMAGES / "event-log.json").read_text(encoding="utf-8"))
    grown = IMAGES / "growth.json"
    drawn = (
        {"growth.svg": growth(json.loads(grown.read_text(encoding="utf-8"))["lines"])}
        if grown.exists()
        else {}
    )
    return {
        **drawn,
        "rotation.svg": timeline(rotation),
        "event-log.svg": event_log(logs["lines"], logs["value"]),
    }


if __name__ == "__main__":
    for name, content in pictures().items():
        (IMAGES / name).write_text(content, encoding="utf-8")
        sys.stdout.write(f"{IMAGES / name}\n")

"""Line charts as SVG, for the report of a run."""

from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, MARGIN = 900, 220, 60
COLORS = ("#1f6feb", "#d1242f", "#1a7f37", "#8250df", "#9a6700", "#0a7ea4", "#bf3989", "#57606a")


@dataclass
class Chart:
    """A chart; `lines` maps a name to points (seconds, value)."""

    title: str
    unit: str
    lines: dict[str, list[tuple[float, float]]]

    def draw(self, top: int) -> str:
        points = [point for line in self.lines.values() for point in line]
        end, highest = max(x for x, _ in points) or 1, max(y for _, y in points) * 1.1 or 1
        width, height = WIDTH - 2 * MARGIN, HEIGHT - 60

        def place(x: float, y: float) -> str:
            return f"{MARGIN + x / end * width:.1f},{top + 30 + height * (1 - y / highest):.1f}"

        shapes = [f'<text x="{MARGIN}" y="{top + 16}" font-weight="bold">{escape(self.title)}</text>']
        for share in (0, 0.5, 1):
            y = top + 30 + height * (1 - share)
            shapes.append(f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{y}" y2="{y}" stroke="#d0d7de"/>')
            label = f"{highest * share:.3g} {self.unit}"
            shapes.append(f'<text x="{MARGIN - 4}" y="{y + 4}" text-anchor="end">{escape(label)}</text>')
        shapes.append(f'<text x="{WIDTH - MARGIN}" y="{top + height + 46}" text-anchor="end">{end:.0f} s</text>')
        for index, (name, line) in enumerate(self.lines.items()):
            color = COLORS[index % len(COLORS)]
            path = " ".join(place(x, y) for x, y in line)
            shapes.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>')
            x = MARGIN + 170 + index % 4 * 160
            y = top + 16 if index < 4 else top + 28
            shapes.append(f'<text x="{x}" y="{y}" fill="{color}">{escape(name)}</text>')
        return "\n".join(shapes)


def svg(charts: list[Chart]) -> str:
    """Returns the charts, one below the other, as one document."""
    body = "\n".join(chart.draw(index * HEIGHT) for index, chart in enumerate(charts))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT * len(charts)}" '
        f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )

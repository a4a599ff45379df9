import { h, svg } from './dom.js'
import { table } from './table.js'

const width = 600
const height = 160

/**
 * A bar chart of `points`, `{label, value}`; `format` converts a value to text. A table below the chart shows the same
 * numbers, also to screen readers.
 */
export function barChart(title, points, format) {
  const maximum = Math.max(1, ...points.map((point) => point.value))
  const step = width / Math.max(1, points.length)
  const bars = points.map(({ label, value }, index) => {
    const barHeight = ((height - 1) * value) / maximum
    // A small value stays visible; zero has no bar.
    const visibleHeight = value > 0 ? Math.max(2, barHeight) : 0
    return svg('rect', {
      x: (index + 0.1) * step, y: height - 1 - visibleHeight, width: step * 0.8, height: visibleHeight,
    }, svg('title', {}, `${label}: ${format(value)}`))
  })
  return h('figure', { class: 'chart' },
    h('figcaption', {}, title, h('span', {}, `Maximum: ${format(Math.max(0, ...points.map((point) => point.value)))}`)),
    svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      bars, svg('line', { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 })),
    h('div', { class: 'ends', 'aria-hidden': 'true' },
      h('span', {}, points[0]?.label ?? ''), h('span', {}, points.at(-1)?.label ?? '')),
    h('details', {}, h('summary', {}, 'Show as table'),
      table([
        { title: 'Day', cell: (point) => point.label },
        { title, isNumber: true, cell: (point) => format(point.value) },
      ], points, 'No data.')))
}

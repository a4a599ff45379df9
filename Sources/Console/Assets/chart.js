import { h, svg } from './dom.js'
import { table } from './table.js'

const width = 600
const height = 160

/**
 * A bar for each of `points`, `{label, value}`; `text` writes a value. Who cannot see the drawing, or wants the numbers,
 * has them as a table below.
 */
export function barChart(title, points, text) {
  const most = Math.max(1, ...points.map((point) => point.value))
  const step = width / Math.max(1, points.length)
  const bars = points.map(({ label, value }, index) => {
    const tall = ((height - 1) * value) / most
    // What is little shows all the same; what is nothing does not.
    const shown = value > 0 ? Math.max(2, tall) : 0
    return svg('rect', {
      x: (index + 0.1) * step, y: height - 1 - shown, width: step * 0.8, height: shown,
    }, svg('title', {}, `${label}: ${text(value)}`))
  })
  return h('figure', { class: 'chart' },
    h('figcaption', {}, title, h('span', {}, `most: ${text(Math.max(0, ...points.map((point) => point.value)))}`)),
    svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      bars, svg('line', { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 })),
    h('div', { class: 'ends', 'aria-hidden': 'true' },
      h('span', {}, points[0]?.label ?? ''), h('span', {}, points.at(-1)?.label ?? '')),
    h('details', {}, h('summary', {}, 'As a table'),
      table([
        { title: 'Day', cell: (point) => point.label },
        { title, isNumber: true, cell: (point) => text(point.value) },
      ], points, 'There are no days.')))
}

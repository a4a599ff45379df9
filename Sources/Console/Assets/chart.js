import { h, svg } from './dom.js'
import { table } from './table.js'

const [width, height] = [600, 160]

/** Multiples of a power at which an axis ends; the half of each has few digits, too. */
const steps = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10]

/** The next round number above a maximum, whose half is a whole number if it counts. */
function axisMaximum(maximum, isBytes) {
  if (maximum <= 10 && !isBytes) return Math.max(2, 2 * Math.ceil(maximum / 2))
  if (maximum <= 1) return 1024
  const base = isBytes ? 1024 ** Math.floor(Math.log(maximum) / Math.log(1024)) : 1
  const scaled = maximum / base
  const power = 10 ** Math.floor(Math.log10(scaled))
  return Math.round(base * power * steps.find((step) => step * power >= scaled))
}

/**
 * A bar chart of `points`, `{label, value}`; `format` converts a value to text. Pointing at a bar shows its value. A table
 * below the chart shows the same numbers, also to screen readers.
 */
export function barChart(title, points, format, isBytes = false) {
  const maximum = axisMaximum(Math.max(0, ...points.map((point) => point.value)), isBytes)
  const step = width / Math.max(1, points.length)
  const readout = h('span', { class: 'readout' })
  const bars = points.map(({ label, value }, index) => {
    const barHeight = ((height - 1) * value) / maximum
    // A small value stays visible; zero has no bar.
    const visibleHeight = value > 0 ? Math.max(2, barHeight) : 0
    const show = () => { readout.textContent = `${label}: ${format(value)}` }
    return svg('g', {},
      svg('rect', { x: (index + 0.1) * step, y: height - 1 - visibleHeight, width: step * 0.8, height: visibleHeight }),
      hitArea(index * step, step, show))
  })
  if (points.every(({ value }) => value === 0)) {
    return h('figure', { class: 'chart' }, h('figcaption', {}, title), h('p', { class: 'empty' }, 'Nothing in this period.'))
  }
  const lines = [0, 0.5, 1].map((part) => {
    const y = Math.min(height - 0.5, Math.max(0.5, height * (1 - part)))
    return svg('line', { x1: 0, x2: width, y1: y, y2: y })
  })
  return h('figure', { class: 'chart' },
    h('figcaption', {}, title, readout),
    h('div', { class: 'plot', 'aria-hidden': 'true' },
      h('div', { class: 'axis' }, [1, 0.5, 0].map((part) => h('span', {}, format(isBytes ? maximum * part
        : Math.round(maximum * part))))),
      svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' }, lines, bars)),
    h('div', { class: 'ends', 'aria-hidden': 'true' },
      h('span', {}, points[0]?.label ?? ''), h('span', {}, points.at(-1)?.label ?? '')),
    h('details', {}, h('summary', {}, 'Show as table'),
      table([
        { title: 'Day', cell: (point) => point.label },
        { title, isNumber: true, cell: (point) => format(point.value) },
      ], points, 'No data.')))
}

/** The whole height of a day, so that small bars can be pointed at. */
function hitArea(x, step, show) {
  const area = svg('rect', { x, y: 0, width: step, height, class: 'hit' })
  area.addEventListener('pointerenter', show)
  return area
}

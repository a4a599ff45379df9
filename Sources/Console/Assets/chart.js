import { h, svg } from './dom.js'
import { dayText } from './format.js'
import { table } from './table.js'

const [width, height] = [600, 160]

/** Multiples of a power at which an axis ends; the half of each has few digits, too. */
const steps = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10]

/** The next round number above a maximum, whose half is a round number, too: a whole one for counts. */
export function axisMaximum(maximum, isBytes = false) {
  if (maximum <= 10) return Math.max(2, 2 * Math.ceil(maximum / 2))
  let base = isBytes ? 1024 ** Math.floor(Math.log2(maximum) / 10) : 1
  // From there on, a text has the next unit.
  if (isBytes && maximum / base > 1000) base *= 1024
  const scaled = maximum / base
  const power = scaled <= 1 ? 1 : 10 ** Math.floor(Math.log10(scaled))
  return Math.round(base * power * steps.find((step) => step * power >= scaled))
}

/** The labels of an axis, from its end to zero, in one unit: the half of 1.6 MiB is 0.8 MiB. */
function axisLabels(maximum, format) {
  const [end, half] = [maximum, maximum / 2].map(format)
  const [unit, unitOfHalf] = [end, half].map((label) => label.split(' ')[1])
  return [end, unit === unitOfHalf ? half : `${parseFloat(end) / 2} ${unit}`, format(0)]
}

/**
 * A bar chart of `points`, `{day, value, href}`, for consecutive days such as `2026-01-31`. `format` converts a value to text;
 * `summary`: a sentence about the values. Pointing at a bar shows its value, and pressing it opens `href`, if it has one. A table
 * below the chart shows the same numbers and links, also to screen readers.
 */
export function dayChart(title, points, { format, isBytes = false, summary = '' }) {
  if (points.every(({ value }) => value === 0)) {
    return h('figure', { class: 'chart' }, h('figcaption', {}, title), h('p', { class: 'empty' }, 'Nothing in this period.'))
  }
  const maximum = axisMaximum(Math.max(...points.map((point) => point.value)), isBytes)
  const step = width / points.length
  // Bars of many days have no space between them.
  const gap = points.length > 120 ? 0 : 0.2
  const readout = h('span', { class: 'readout' })
  const bars = points.map((point, index) => {
    const barHeight = ((height - 1) * point.value) / maximum
    // A small value stays visible; zero has no bar.
    const visibleHeight = point.value > 0 ? Math.max(2, barHeight) : 0
    const bar = svg('rect', { x: (index + gap / 2) * step, y: height - 1 - visibleHeight, width: step * (1 - gap), height: visibleHeight })
    // The whole height of a day, so that small bars can be pointed at.
    const area = svg('rect', { x: index * step, y: 0, width: step, height, class: 'hit' })
    area.addEventListener('pointerenter', () => { readout.textContent = `${point.day}: ${format(point.value)}` })
    // The links of the table are those for the keyboard.
    return point.href ? svg('a', { href: point.href, tabindex: -1 }, bar, area) : svg('g', {}, bar, area)
  })
  const lines = [0, 0.5, 1].map((part) => {
    const y = Math.min(height - 0.5, Math.max(0.5, height * (1 - part)))
    return svg('line', { x1: 0, x2: width, y1: y, y2: y })
  })
  return h('figure', { class: 'chart' },
    h('figcaption', {}, title, readout),
    summary && h('p', { class: 'summary' }, summary),
    h('div', { class: 'plot', 'aria-hidden': 'true' },
      h('div', { class: 'axis' }, axisLabels(maximum, format).map((label) => h('span', {}, label))),
      svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' }, lines, bars),
      dayAxis(points.map(({ day }) => day))),
    h('details', {}, h('summary', {}, 'Show as table'),
      table([
        { title: 'Day', cell: ({ day, href }) => (href ? h('a', { href, class: 'id' }, day) : day) },
        { title, isNumber: true, cell: (point) => format(point.value) },
      ], points, 'No data.')))
}

/** The first and the last day, and two between them, below their bars. */
function dayAxis(days) {
  const last = days.length - 1
  const shown = [...new Set([0, 1, 2, 3].map((part) => Math.round((last * part) / 3)))]
  const isLong = days[0].slice(0, 4) !== days[last].slice(0, 4) && days.length > 120
  return h('div', { class: 'days' }, shown.map((index) => {
    const text = h('span', {}, dayText(days[index], isLong))
    if (index > 0 && index < last) text.style.left = `${(100 * (index + 0.5)) / days.length}%`
    return text
  }))
}

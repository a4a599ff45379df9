import { h, svg } from './dom.js'

const [width, height] = [600, 80]
/** Columns that are drawn, and rows from which a line is one. */
const [mostColumns, leastRows] = [6, 3]

/** Lines of the columns that have numbers, in the order of the rows; `rows`: texts without the titles. */
export function csvPlots(titles, rows) {
  if (rows.length < leastRows) return null
  const plots = titles.map((title, index) => plot(title, rows.map((row) => numberIn(row[index])))).filter(Boolean)
  if (plots.length === 0) return null
  return h('div', { class: 'csv-plots' }, plots.slice(0, mostColumns))
}

function numberIn(text = '') {
  return text.trim() === '' ? NaN : Number(text)
}

/** A line through the numbers of a column; `null` for a column of other texts, or of one number. */
function plot(title, values) {
  const numbers = values.filter(Number.isFinite)
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  if (numbers.length < 0.9 * values.length || least === most) return null
  const point = (value, index) => [
    (width * index) / (values.length - 1), 2 + ((height - 4) * (most - value)) / (most - least)].map((each) => each.toFixed(1)).join()
  const points = values.map((value, index) => Number.isFinite(value) && point(value, index)).filter(Boolean)
  const text = (value) => value.toLocaleString('en', { maximumSignificantDigits: 6 })
  const range = `${text(least)} to ${text(most)}`
  return h('figure', {}, h('figcaption', {}, title, h('small', {}, ` ${range}`)),
    svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title}: ${range}` },
      svg('polyline', { points: points.join(' ') })))
}

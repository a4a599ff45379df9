import { h } from './dom.js'
import { formatCount } from './format.js'

/** Levels that are open at first, and values that are shown. */
const [openLevels, mostValues] = [2, 2000]

/** A JSON value, in which objects and arrays can be folded. */
export function jsonTree(value) {
  const left = { count: mostValues }
  return h('div', { class: 'json' }, node('', value, 0, left),
    left.count < 0 && h('p', { class: 'hint' }, `The first ${formatCount(mostValues, 'value')} are shown.`))
}

function node(name, value, level, left) {
  left.count -= 1
  if (left.count < 0) return null
  if (value === null || typeof value !== 'object') return h('div', {}, name, h('bdi', {}, JSON.stringify(value)))
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const entries = Object.entries(value)
  if (entries.length === 0) return h('div', {}, name, open + close)
  const key = Array.isArray(value) ? () => '' : (each) => `${JSON.stringify(each)}: `
  return h('details', { open: level < openLevels },
    h('summary', {}, name, open, h('small', {}, ` ${formatCount(entries.length, 'value')}`)),
    entries.map(([each, child]) => node(key(each), child, level + 1, left)), h('div', {}, close))
}

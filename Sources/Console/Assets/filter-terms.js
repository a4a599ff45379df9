/** Terms of a filter of ListObjects, for the controls that add and remove them. */

/** A key or a word, and the operator and the value, which spaces may surround. */
const termPattern = /((?:"(?:\\.|[^"\\])*"|[^\s":=<>])+)(?:\s*([:=<>]=?)\s*((?:"(?:\\.|[^"\\])*"|[^\s"])+))?/g

/**
 * Splits a filter into the terms that it combines with AND: `a=1 b="x y"` → `['a=1', 'b="x y"']`. Returns `null` for a
 * filter with OR, NOT or parentheses, whose terms cannot be removed one by one.
 */
export function splitTerms(filter) {
  const terms = [...filter.matchAll(termPattern)].map(([, key, operator = '', value = '']) => key + operator + value)
  if (terms.some((term) => ['OR', 'NOT'].includes(term) || /^\(|\)$/.test(term))) return null
  return terms.filter((term) => term !== 'AND')
}

/** Returns the filter with one more term. */
export function addTerm(filter, term) {
  if (!filter) return term
  return splitTerms(filter) ? `${filter} ${term}` : `(${filter}) ${term}`
}

/** Returns the filter without the term. */
export function removeTerm(filter, term) {
  return (splitTerms(filter) ?? []).filter((each) => each !== term).join(' ')
}

export function hasTerm(filter, term) {
  return splitTerms(filter)?.includes(term) ?? false
}

/** The term that requires a value: `termFor('raw_tags.run', 'a b')` → `raw_tags.run="a b"`. */
export function termFor(name, value) {
  return `${quoteKey(name)}=${quoteIfNeeded(value)}`
}

function quoteKey(name) {
  const prefix = 'raw_tags.'
  if (!name.startsWith(prefix)) return name
  const key = name.slice(prefix.length)
  return prefix + (/^[\w.-]+$/.test(key) ? key : quote(key))
}

function quoteIfNeeded(value) {
  return /^[\w.:/+@-]+$/.test(value) ? value : quote(value)
}

const folderName = 'folder:'

/** The path of the folder that a filter requires; empty if it requires none. */
export function folderPath(filter) {
  const term = splitTerms(filter)?.find((each) => each.startsWith(folderName))
  if (!term) return ''
  const value = term.slice(folderName.length)
  return (value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : value).replace(/\/$/, '')
}

/** Returns the filter with another folder; an empty path removes it. */
export function withFolder(filter, path) {
  const terms = (splitTerms(filter) ?? []).filter((each) => !each.startsWith(folderName))
  return [...terms, ...(path ? [`${folderName}${quoteIfNeeded(path)}`] : [])].join(' ')
}

/** The owner of a folder in its filter, `{device}` or `{site}`; `null` if the filter has other terms or several folders may match. */
export function folderOwner(filter) {
  const terms = (splitTerms(filter) ?? []).filter((each) => !each.startsWith(folderName))
  const device = terms[0]?.match(/^device="?([^"]+)"?$/)?.[1]
  if (terms.length === 1 && device) return { device }
  const site = terms[0]?.match(/^site=(\d+)$/)?.[1]
  return terms.length === 2 && site && terms[1] === 'device=""' ? { site } : null
}

/** The text as a word or a value of a filter, whatever characters it has. */
export function quote(text) {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** The terms that select the objects whose uploads began on a day in UTC. */
export function termsOfDay(day) {
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
  return `created>=${day}T00:00:00Z created<${next}T00:00:00Z`
}

const dayTerm = /^recorded(>=|<=)(\d{4}-\d{2}-\d{2})$/
/** A term that selects one day or some days. */
const anyDayTerm = /^recorded[:=]/

/** The days between which a filter selects objects: `{from, to}`, each empty if the filter does not limit it. */
export function dateRange(filter) {
  const range = { from: '', to: '' }
  for (const term of splitTerms(filter) ?? []) {
    const [, operator, day] = term.match(dayTerm) ?? []
    if (operator === '>=') range.from = day
    if (operator === '<=') range.to = day
  }
  return range
}

/** Returns the filter with days such as `today` instead of all others, or without them if it has these. */
export function withDays(filter, days) {
  const term = termFor('recorded', days)
  if (hasTerm(filter, term)) return removeTerm(filter, term)
  const terms = splitTerms(filter)
  const others = terms ? terms.filter((each) => !dayTerm.test(each) && !anyDayTerm.test(each)).join(' ') : filter
  return addTerm(others, term)
}

/** Returns the filter with another date range; empty days remove the limit. */
export function withDateRange(filter, { from, to }) {
  const terms = splitTerms(filter)
  const others = terms ? terms.filter((term) => !dayTerm.test(term) && !anyDayTerm.test(term)).join(' ') : filter
  const limits = [from && `recorded>=${from}`, to && `recorded<=${to}`].filter(Boolean)
  return limits.reduce(addTerm, others)
}

/** The keys of tags that a filter's terms name. */
export function filterKeys(filter) {
  return (splitTerms(filter) ?? []).map((term) => term.match(/^(?:raw_tags\.)?("(?:\\.|[^"\\])*"|[\w.-]+)=/)?.[1])
    .filter(Boolean).map((key) => (key.startsWith('"') ? JSON.parse(key) : key))
}

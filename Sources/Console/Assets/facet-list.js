import { withDeviceName } from './device-names.js'
import { button, h } from './dom.js'
import { addTerm, hasTerm, removeTerm, termFor } from './filter-terms.js'
import { objectsAddress, siteName } from './object-facets.js'
import { callInZone } from './time-zone.js'
import { fileNameTag } from './object-source.js'

const titles = { device: 'Device', site: 'Site', recorded: 'Day' }
/** Values of a facet that are shown before “Show …”. */
const shortLength = 6
/** Values that a search shows. */
const mostFound = 50
/** Time without a further key before a search, in milliseconds. */
const typingTime = 200

/** The values of a facet that narrow the search; `null` for a facet without values. */
export function facetList(facet, source, order) {
  const { filter } = source
  const { name, values = [] } = facet
  const key = name.replace(/^raw_tags\./, '')
  const title = titles[name] ?? key
  if (values.length === 0 || key === fileNameTag) return null
  const total = Number(facet.totalValues ?? values.length)
  const item = (value) => facetItem(name, value, filter, order)
  const list = h('ul', {}, values.slice(0, shortLength).map(item))
  const section = h('section', { class: 'facet', 'aria-label': title }, h('h2', {}, title), list)
  if (total <= shortLength) return section
  const state = h('p', { class: 'facet-state', role: 'status' })
  const isPartial = total > values.length
  const more = button(isPartial ? `Show ${values.length} of ${totalText(facet, total)}` : `Show all ${total}`, () => {
    list.replaceChildren(...values.map(item))
    list.querySelectorAll('a')[shortLength].focus()
    more.remove()
    if (isPartial) state.textContent = `${values.length} of ${totalText(facet, total)}`
  }, 'link')
  const field = h('input', { type: 'search', class: 'facet-search', placeholder: `Find ${title.toLowerCase()}`,
    'aria-label': `Find ${title}`, id: `facet-${name}`, autocomplete: 'off', spellcheck: 'false' })
  searchValues(field, { facet, source, show: (found, count) => {
    more.hidden = Boolean(found)
    list.replaceChildren(...(found ?? values.slice(0, more.isConnected ? shortLength : values.length)).map(item))
    state.textContent = found ? `${found.length} of ${count}` : ''
  }, fail: (message) => { state.textContent = message } })
  section.append(...[isPartial && field, state, more].filter(Boolean))
  if (isPartial) section.insertBefore(field, list)
  return section
}

function totalText({ isLowerBound }, total) {
  return `${isLowerBound ? 'more than ' : ''}${total.toLocaleString('en')}`
}

function facetItem(name, { value, objects }, filter, order) {
  const term = termFor(name, value)
  const isApplied = hasTerm(filter, term)
  const shown = h('span', { class: 'value' }, name === 'site' ? siteName(value) : value)
  const link = h('a', {
    href: objectsAddress(isApplied ? removeTerm(filter, term) : addTerm(filter, term), order),
    'aria-current': isApplied && 'true', title: shown.textContent,
  }, shown, h('span', { class: 'count' }, Number(objects).toLocaleString('en')))
  if (name === 'device') {
    withDeviceName(value, (text) => {
      if (!text) return
      shown.replaceChildren(text, ' ', h('small', { class: 'id' }, value))
      link.title = `${text} (${value})`
    })
  }
  return h('li', {}, link)
}

/** Asks for the values that contain what is typed. `show(values, total)`: `null` values = nothing is typed. */
function searchValues(field, { facet, source, show, fail }) {
  let timer
  let latest = 0
  const search = async () => {
    const valueContains = field.value.trim()
    latest += 1
    const own = latest
    if (!valueContains) return show(null)
    try {
      const { facets = [] } = await callInZone(source, 'management', 'GetObjectFacets',
        { filter: source.filter, facet: facet.name, valueContains, valueLimit: mostFound }, { isBackground: true })
      if (own !== latest) return undefined
      const found = facets[0] ?? {}
      return show(found.values ?? [], totalText(found, Number(found.totalValues ?? 0)))
    } catch (error) {
      return own === latest && fail(error.message)
    }
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(search, typingTime)
  })
}

import { callAll, selectedOrganization } from './api.js'
import { button, h, showNotice } from './dom.js'
import { formField, showFormDialog } from './dialog.js'
import { addTerm, dateRange, hasTerm, removeTerm, splitTerms, termFor, withDateRange } from './filter-terms.js'
import { fileNameTag } from './object-source.js'

const facetTitles = { device: 'Device', site: 'Site', created: 'Day (UTC)' }
/** Values of a facet that are shown before “Show all”. */
const shortLength = 6
const savedSearchesKey = 'console-saved-searches'

/** The address of the list with a filter and an order. */
export function objectsAddress(filter, order = '') {
  const query = new URLSearchParams()
  if (filter) query.set('filter', filter)
  if (order) query.set('sort', order)
  return `#/objects${query.size ? `?${query}` : ''}`
}

/** Time for which the names of sites are kept, in milliseconds. */
const siteNamesTime = 30_000
let siteNames = { organization: null, names: new Map(), loadedAt: 0 }

/** Returns the names of the organization's sites by id. */
export async function loadSiteNames() {
  const organization = selectedOrganization()
  const isKnown = siteNames.organization === organization && performance.now() - siteNames.loadedAt < siteNamesTime
  if (isKnown) return siteNames.names
  const sites = await callAll('admin', 'ListSites', 'sites')
  keepSiteNames(organization, sites)
  return siteNames.names
}

/** Keeps the names of an organization's sites that were loaded just now. */
export function keepSiteNames(organization, sites) {
  const names = new Map(sites.map((site) => [site.siteId, site.name]))
  siteNames = { organization, names, loadedAt: performance.now() }
}

export function siteName(id) {
  return siteNames.names.get(id) ?? (id ? `site ${id}` : '')
}

/** The controls beside the list: date range, values that narrow the search, and saved searches. */
export function facetPanel(source, { filter, order }) {
  const panel = h('div', { class: 'facets' })
  const draw = () => {
    const focused = panel.contains(document.activeElement) ? document.activeElement.id : ''
    panel.replaceChildren(...[dateControls(filter, order),
      ...source.facets.map((facet) => facetList(facet, filter, order)), savedSearches(filter, order, draw)].filter(Boolean))
    if (focused) document.getElementById(focused)?.focus()
  }
  draw()
  return { element: panel, draw }
}

/** The terms of the filter, each with a button that removes it. */
export function filterChips(filter, order) {
  const terms = splitTerms(filter) ?? []
  if (terms.length === 0) return null
  return h('ul', { class: 'chips', 'aria-label': 'Terms of the filter' }, terms.map((term) => h('li', {},
    h('a', { href: objectsAddress(removeTerm(filter, term), order), 'aria-label': `Remove ${term}` },
      h('code', {}, term), h('span', { 'aria-hidden': 'true' }, ' ×')))))
}

function dateControls(filter, order) {
  const range = dateRange(filter)
  const apply = ({ target }) => {
    location.hash = objectsAddress(withDateRange(filter, { ...range, [target.name]: target.value }), order)
  }
  return h('fieldset', { class: 'facet dates', onchange: apply }, h('legend', {}, 'Upload started (UTC)'),
    formField({ name: 'from', label: 'From', type: 'date', value: range.from }),
    formField({ name: 'to', label: 'To', type: 'date', value: range.to }))
}

function facetList({ name, values = [] }, filter, order) {
  const key = name.replace(/^raw_tags\./, '')
  if (values.length === 0 || key === fileNameTag) return null
  const item = ({ value, objects }) => {
    const term = termFor(name, value)
    const isApplied = hasTerm(filter, term)
    const text = name === 'site' ? siteName(value) : value
    return h('li', {}, h('a', {
      href: objectsAddress(isApplied ? removeTerm(filter, term) : addTerm(filter, term), order),
      'aria-current': isApplied && 'true', title: text,
    }, h('span', { class: 'value' }, text), h('span', { class: 'count' }, Number(objects).toLocaleString('en'))))
  }
  const list = h('ul', {}, values.slice(0, shortLength).map(item))
  const more = values.length > shortLength && button(`Show all ${values.length}`, () => {
    list.replaceChildren(...values.map(item))
    list.querySelectorAll('a')[shortLength].focus()
    more.remove()
  }, 'link')
  return h('section', { class: 'facet', 'aria-label': facetTitles[name] ?? key },
    h('h2', {}, facetTitles[name] ?? key), list, more)
}

function readSavedSearches() {
  try {
    return JSON.parse(localStorage.getItem(savedSearchesKey)) ?? []
  } catch {
    return []
  }
}

function writeSavedSearches(searches) {
  localStorage.setItem(savedSearchesKey, JSON.stringify(searches))
}

/** Searches that this browser keeps under a name. */
function savedSearches(filter, order, draw) {
  const searches = readSavedSearches()
  const save = () => showFormDialog({
    title: 'Save this search', submit: 'Save',
    text: 'The search is saved in this browser. To share it, copy the address of the page.',
    fields: [{ name: 'name', label: 'Name', required: true, maxlength: 80 }],
    action: ({ name }) => {
      writeSavedSearches([...readSavedSearches().filter((each) => each.name !== name), { name, filter, order }])
      showNotice(`Search “${name}” was saved.`)
      draw()
    },
  })
  const forget = (name) => {
    writeSavedSearches(readSavedSearches().filter((each) => each.name !== name))
    draw()
  }
  if (searches.length === 0 && !filter && !order) return null
  return h('section', { class: 'facet', 'aria-label': 'Saved searches' }, h('h2', {}, 'Saved searches'),
    searches.length > 0 && h('ul', {}, searches.map((search) => h('li', { class: 'saved' },
      h('a', { href: objectsAddress(search.filter, search.order) }, search.name),
      h('button', { type: 'button', class: 'link', 'aria-label': `Delete search ${search.name}`,
        onclick: () => forget(search.name) }, '×')))),
    (filter || order) && button('Save this search', save, 'link'))
}

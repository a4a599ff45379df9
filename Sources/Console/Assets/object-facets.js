import { callAll, selectedOrganization } from './api.js'
import { h } from './dom.js'
import { formField } from './dialog.js'
import { facetList } from './facet-list.js'
import { dateRange, hasTerm, removeTerm, splitTerms, termFor, withDateRange, withDays } from './filter-terms.js'
import { formatColumns, isDefault } from './object-columns.js'
import { go, hasSeveralOrganizations, knownOrganizations } from './organization-choice.js'
import { savedSearches } from './saved-searches.js'
import { browserZone, chosenZone, chooseZone, siteOfFilter, utc } from './time-zone.js'

/** The columns of the list that was shown last; links to other lists keep them. */
let shownColumns = ''

/** Notes the columns of the list that is shown. */
export function keepColumns(names) {
  shownColumns = isDefault(names) ? '' : formatColumns(names)
}

/** Whether lists show each folder as one row; links to other lists keep it. */
let showsFolders = true
const foldersStorageKey = 'console-folders'

/** Reads from the query of an address whether folders are rows; without it, what was chosen last in this browser. */
export function readFolders(query) {
  const choice = query.get('folders') ?? localStorage.getItem(foldersStorageKey)
  showsFolders = choice !== 'off'
  return showsFolders
}

/** Chooses whether folders are rows, for this browser. */
export function chooseFolders(isOn) {
  localStorage.setItem(foldersStorageKey, isOn ? 'on' : 'off')
  showsFolders = isOn
}

/** The address of the list with a filter, an order and columns; without columns, with those of the list that was shown last. */
export function objectsAddress(filter, order = '', columns = null) {
  const query = new URLSearchParams()
  if (filter) query.set('filter', filter)
  if (order) query.set('sort', order)
  const names = columns === null ? shownColumns : isDefault(columns) ? '' : formatColumns(columns)
  if (names) query.set('columns', names)
  if (!showsFolders) query.set('folders', 'off')
  return `#/objects${query.size ? `?${query}` : ''}`
}

/** Time for which the names of sites are kept, in milliseconds. */
const siteNamesTime = 30_000
let siteNames = { organization: null, names: new Map(), zones: new Map(), loadedAt: 0 }

/** Organizations whose sites are loaded for a list of all. */
const mostOrganizations = 20

/** Returns the sites of all organizations as far as there are not too many, each named with its organization; `system` is one of them. */
async function allSites() {
  const organizations = [...new Set(['system', ...knownOrganizations()])].slice(0, mostOrganizations)
  const lists = await Promise.all(organizations.map(async (organization) =>
    (await callAll('admin', 'ListSites', 'sites', {}, { organization })).map((site) => (
      { ...site, name: organization === 'system' ? site.name : `${site.name} (${organization})` }))))
  return lists.flat()
}

/** Returns the names of the organization's sites by id. */
export async function loadSiteNames() {
  const organization = selectedOrganization()
  const isKnown = siteNames.organization === organization && performance.now() - siteNames.loadedAt < siteNamesTime
  if (isKnown) return siteNames.names
  const sites = hasSeveralOrganizations() ? await allSites() : await callAll('admin', 'ListSites', 'sites')
  keepSiteNames(organization, sites)
  return siteNames.names
}

/** Keeps the names of an organization's sites that were loaded just now. */
export function keepSiteNames(organization, sites) {
  const names = new Map(sites.map((site) => [site.siteId, site.name]))
  const zones = new Map(sites.map((site) => [site.siteId, site.timeZone]))
  siteNames = { organization, names, zones, loadedAt: performance.now() }
}

/** The zone of the days and times of a filter: that of its only site, if it has one, else the chosen one. */
export async function zoneOfFilter(filter) {
  const site = siteOfFilter(filter)
  if (site) await loadSiteNames().catch(() => {})
  return (site && siteNames.zones.get(site)) || chosenZone()
}

export function siteName(id) {
  return siteNames.names.get(id) ?? (id ? `site ${id}` : '')
}

/** The controls beside the list: date range, values that narrow the search, and saved searches. */
export function facetPanel(source, { filter, order, columns }, reload) {
  const saved = savedSearches({ filter, order, columns })
  const panel = h('div', { class: 'facets' })
  const draw = () => {
    const focused = panel.contains(document.activeElement) ? document.activeElement.id : ''
    panel.replaceChildren(...[dateControls(source, order, reload),
      saved,
      ...source.facets.map((facet) => facetList(facet, source, order))].filter(Boolean))
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

/** Days by their names, dates, and the zone in which they begin. */
function dateControls(source, order, reload) {
  const { filter, zone } = source
  const range = dateRange(filter)
  const days = ['today', 'yesterday', 'last 7 days'].map((name) => h('li', {}, h('a', {
    href: objectsAddress(withDays(filter, name), order), 'aria-current': hasTerm(filter, termFor('recorded', name)) && 'true',
  }, name[0].toUpperCase() + name.slice(1))))
  const apply = ({ target }) => {
    go(objectsAddress(withDateRange(filter, { ...range, [target.name]: target.value }), order))
  }
  return h('fieldset', { class: 'facet dates', onchange: apply }, h('legend', {}, 'Recorded'), h('ul', {}, days),
    formField({ name: 'from', label: 'From', type: 'date', value: range.from }),
    formField({ name: 'to', label: 'To', type: 'date', value: range.to }), zoneControl(filter, zone, reload))
}

/** The zone of days and times; without a site whose zone applies, it can be chosen. */
function zoneControl(filter, zone, reload) {
  const ofSite = siteOfFilter(filter) && siteNames.zones.get(siteOfFilter(filter))
  const options = ofSite ? [[zone, `${zone} (site)`]] : [...new Set([browserZone, utc])].map((each) => [each, each])
  const choose = (event) => {
    event.stopPropagation()
    chooseZone(event.target.value)
    reload()
  }
  return formField({ name: 'zone', label: 'Zone', type: 'select', value: zone, options, disabled: Boolean(ofSite), onchange: choose })
}

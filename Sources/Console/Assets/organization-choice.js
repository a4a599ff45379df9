/** The organization for which an admin of `system` acts: the choice in the header, and the part of an address that has it. */

import { hasRole, isSystemUser, selectedOrganization, selectOrganization, session } from './api.js'
import { h } from './dom.js'
import { removeTerm, splitTerms } from './filter-terms.js'

/** The parameter of an address; without it, the address is for all organizations. */
const parameter = 'org'
const allTitle = 'All organizations'
/** The parts of an address that belong to one organization. */
const ownParameters = ['site', 'suite', 'actor', 'target', 'text']
const ownTerms = /^(device|site|folder)\b/

/** Organizations that the user may choose; empty while they are not loaded. */
let names = []
let choice = null

/** Whether lists have the objects of all organizations. */
export function seesAllOrganizations() {
  return isSystemUser() && !selectedOrganization()
}

/** Whether the user sees all organizations, and there are several. */
export function hasSeveralOrganizations() {
  return names.length > 1 && seesAllOrganizations()
}

/** The organizations that are known, `system` last. */
export function knownOrganizations() {
  return [...names.filter((name) => name !== 'system'), ...names.filter((name) => name === 'system')]
}

/** Returns an address such as `#/objects` with the selected organization, or another one, unless it has one. */
export function inOrganization(address, organization = selectedOrganization()) {
  if (!organization || !address.startsWith('#/') || /[?&]org=/.test(address)) return address
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams({ [parameter]: organization })}`
}

/** Returns an address of a list of all organizations, whichever is selected. */
export function allOrganizations(address) {
  if (!selectedOrganization()) return address
  return `${address}${address.includes('?') ? '&' : '?'}${parameter}=`
}

/** Opens a page in the selected organization. */
export function go(address) {
  location.hash = inOrganization(address)
}

/**
 * Selects the organization of the address. Returns its name if the user may not act for it, else an empty text. Removes it from
 * `query`, since addresses that pages make get the selected one.
 */
export function followAddress(query) {
  const wanted = query.get(parameter) ?? ''
  query.delete(parameter)
  if (!hasRole('system admin')) {
    selectOrganization('')
    return wanted && wanted !== session.user.organization ? wanted : ''
  }
  selectOrganization(wanted)
  show()
  return ''
}

/** The control that chooses the organization; `null` if there is only one. */
export function organizationSelect(organizations) {
  names = organizations
  choice = null
  if (names.length < 2) return null
  choice = h('select', { 'aria-label': 'Organization', onchange: () => { location.hash = switched(choice.value) } },
    h('option', { value: '' }, allTitle), knownOrganizations().map((name) => h('option', { value: name }, name)))
  show()
  return choice
}

function show() {
  if (choice) choice.value = selectedOrganization()
}

/** The address of the page in another organization: without what belongs to the present one. */
function switched(organization) {
  const [path, text = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [page = 'overview'] = path.split('/')
  const query = new URLSearchParams(text)
  for (const name of [parameter, ...ownParameters]) query.delete(name)
  const filter = query.get('filter') ?? ''
  const terms = splitTerms(filter)
  const kept = terms ? terms.filter((term) => ownTerms.test(term)).reduce(removeTerm, filter) : ''
  if (kept) query.set('filter', kept)
  else query.delete('filter')
  if (organization) query.set(parameter, organization)
  return `#/${page || 'overview'}${query.size ? `?${query}` : ''}`
}

/** A line that tells which organization a page shows that cannot show all; `null` if there is only one. */
export function ownPageNote() {
  if (!hasSeveralOrganizations()) return null
  return h('p', { class: 'hint', role: 'note' }, 'This page shows one organization at a time, now system. Choose another one in the header.')
}

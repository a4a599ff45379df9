import { loadDevices, loadedDevices } from './device-names.js'
import { h } from './dom.js'
import { formField } from './dialog.js'
import { go } from './organization-choice.js'

const week = '604800'
const periods = [['3600', 'Last hour'], ['86400', 'Last 24 hours'], [week, 'Last 7 days'], ['2592000', 'Last 30 days'],
  ['', 'All time']]
const actors = [['', 'People and the gateway'], ['devices', 'Devices and keys'], ['all', 'Everybody']]
const actorKinds = {
  '': ['AUDIT_ACTOR_KIND_USER', 'AUDIT_ACTOR_KIND_GATEWAY', 'AUDIT_ACTOR_KIND_UNKNOWN'],
  devices: ['AUDIT_ACTOR_KIND_DEVICE', 'AUDIT_ACTOR_KIND_KEY'],
  all: [],
}
const groups = [['', 'All actions'], ['DELETION', 'Deletions and restorations'], ['DOWNLOAD', 'Downloads and views'],
  ['CHANGE', 'Changes of objects'], ['UPLOAD', 'Uploads'], ['DEVICE', 'Devices'], ['ACCESS', 'Users, sites and keys'],
  ['SIGN_IN', 'Sign-ins'], ['GATEWAY', 'The gateway']]
const results = [['', 'All results'], ['OK', 'Succeeded'], ['!OK', 'Refused or failed']]
/** The filters in the page's address. `lines`: `each` shows the lines of devices one by one. */
const names = ['who', 'about', 'since', 'from', 'to', 'actor', 'target', 'action', 'result', 'lines']

/** Returns the filter in the page's address. */
export function auditFilter(query) {
  return { ...Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])), since: query.get('since') ?? week }
}

/** The address of the lines of a filter. */
export function auditAddress(filter) {
  const present = Object.entries(filter).filter(([name, value]) => value || name === 'since')
  return `#/audit?${new URLSearchParams(present)}`
}

/** Whether a filter selects lines by more than their time. */
export function isFiltered({ about, actor, target, action, result }) {
  return Boolean(about || actor || target || action || result)
}

/** Returns the fields of ListAuditLines for a filter. A period ends at `now`, in milliseconds. */
export async function auditRequest({ who, about, since, from, to, actor, target, action, result, lines }, now) {
  const start = from ? new Date(from) : since && new Date(now - Number(since) * 1000)
  if (actor || target) await loadDevices()
  return {
    newestFirst: true, withSentences: true, foldKeys: lines !== 'each', actorKinds: actorKinds[who] ?? [],
    ...start && { since: start.toISOString() }, ...to && { until: new Date(to).toISOString() },
    ...about && { actionGroup: `AUDIT_ACTION_GROUP_${about}` },
    ...actor && { actor: patternOf(actor, 'device:') }, ...target && { target: patternOf(target, '') },
    ...action && { action }, ...result && { result },
  }
}

/** The pattern for a text that a person typed: the name of a device, or a part of a name or an id. */
function patternOf(text, prefix) {
  const wanted = text.trim()
  const device = loadedDevices().find(({ displayName = '' }) => displayName.toLowerCase() === wanted.toLowerCase())
  if (device) return prefix + device.deviceId
  return /[*:/]/.test(wanted) ? wanted : `*${wanted}*`
}

/** The controls of a filter, which change the page's address. */
export function auditFields(filter) {
  const apply = ({ target: { name, value } }) => {
    // A period and times replace each other.
    const others = { since: { from: '', to: '' }, who: { lines: '' } }[name]
    go(auditAddress({ ...filter, ...others, [name]: value }))
  }
  const { from, to, actor, target, result } = filter
  return h('div', { onchange: apply },
    h('div', { class: 'filters' },
      formField({ name: 'who', label: 'Who', type: 'select', value: filter.who, options: actors }),
      formField({ name: 'about', label: 'What', type: 'select', value: filter.about, options: groups }),
      formField({ name: 'since', label: 'Period', type: 'select', ...from || to
        ? { value: 'times', options: [['times', 'Chosen times'], ...periods] } : { value: filter.since, options: periods } })),
    h('details', { class: 'more-filters', open: Boolean(from || to || actor || target || result) },
      h('summary', {}, 'More filters'),
      h('div', { class: 'filters' },
        formField({ name: 'actor', label: 'Actor', type: 'search', value: actor, placeholder: 'user, device or id' }),
        formField({ name: 'target', label: 'Target', type: 'search', value: target, placeholder: 'device or id' }),
        formField({ name: 'result', label: 'Result', type: 'select', value: result, options: results }),
        formField({ name: 'from', label: 'From', type: 'datetime-local', step: 1, value: localTime(from) }),
        formField({ name: 'to', label: 'Until', type: 'datetime-local', step: 1, value: localTime(to) }))))
}

/** A time of the address as a field for local times shows it. */
function localTime(text) {
  if (!text) return ''
  const date = new Date(text)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

import { call } from './api.js'
import { splitTerms } from './filter-terms.js'

/** The zones of days and times: that of the site in the filter, else one that is chosen here and kept by the browser. */

const storageKey = 'console-time-zone'
export const utc = 'UTC'
/** Zones that the gateway's machine does not have. */
const refused = new Set()

export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone || utc

/** The zone for filters that do not name one site with a zone. */
export function chosenZone() {
  const zone = localStorage.getItem(storageKey) === utc ? utc : browserZone
  return refused.has(zone) ? utc : zone
}

export function chooseZone(zone) {
  localStorage.setItem(storageKey, zone)
}

/** The id of the only site that a filter selects; `null` for another filter. */
export function siteOfFilter(filter) {
  const sites = (splitTerms(filter) ?? []).map((term) => term.match(/^site[:=](\d+)$/)?.[1]).filter(Boolean)
  return sites.length === 1 ? sites[0] : null
}

/** Calls a method that takes a zone; in UTC if the gateway does not have it. `source.zone` then says so. */
export async function callInZone(source, service, method, message, options) {
  try {
    return await call(service, method, { ...message, timeZone: source.zone }, options)
  } catch (error) {
    if (source.zone === utc || !error.message.startsWith('time_zone ')) throw error
    refused.add(source.zone)
    source.zone = utc
    return call(service, method, { ...message, timeZone: utc }, options)
  }
}

/** The zones that a person can choose, with the browser's one first. */
export function zoneNames() {
  return [...new Set([browserZone, utc, ...Intl.supportedValuesOf('timeZone')])]
}

/** The date of a day in a zone, counted from today: `-1` = yesterday. */
export function dateInZone(zone, days = 0) {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const today = Date.parse(format.format(new Date()))
  return new Date(today + days * 86_400_000).toISOString().slice(0, 10)
}

const dayPattern = /"(?:\\.|[^"\\])*"|\b(created|recorded|recorded_from|recorded_to)\s*([:=]|[<>]=?)\s*(?:(today|yesterday)\b|("?)last\s+(\d+)\s+days?\b\4)/gi

/** The filter with dates instead of days such as `yesterday`, which a filter that changes objects must not have. */
export function withDates(filter, zone) {
  return filter.replaceAll(dayPattern, (text, field, operator, name, _, count) => {
    if (!field) return text
    const last = dateInZone(zone, name?.toLowerCase() === 'yesterday' ? -1 : 0)
    const first = count ? dateInZone(zone, 1 - Number(count)) : last
    if (operator === '<' || operator === '>=') return `${field}${operator}${first}`
    if (operator === '>' || operator === '<=') return `${field}${operator}${last}`
    return first === last ? `${field}=${last}` : `(${field}>=${first} ${field}<=${last})`
  })
}

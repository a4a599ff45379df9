import { call, hasRole } from './api.js'
import { isOverdue } from './backup.js'
import { withDeviceName } from './device-names.js'
import { countSilentDevices, silentDevices } from './device-list.js'
import { h, pageHeader, propertyList } from './dom.js'
import { formField } from './dialog.js'
import { formatBytes, formatCount, timeElement } from './format.js'
import { barChart } from './chart.js'
import { firstSteps } from './first-steps.js'
import { loadSiteNames, objectsAddress, siteName } from './object-facets.js'
import { termFor } from './filter-terms.js'
import { table } from './table.js'

const periods = [['7', 'Last 7 days'], ['30', 'Last 30 days'], ['90', 'Last 90 days'], ['365', 'Last 365 days']]
/** Time before the end of a certificate at which it is a warning, in milliseconds. */
const certificateWarning = 21 * 86_400_000

/** Shows what is stored, what needs attention, and what happened on each day. */
export async function renderOverview(body, { query }) {
  const days = Number(query.get('days') ?? 30)
  const [statistics, state] = await Promise.all([
    call('management', 'GetStatistics', { days }), gatewayState(), loadSiteNames().catch(() => {})])
  const dailyStatistics = statistics.days ?? []
  const sum = (member) => dailyStatistics.reduce((total, day) => total + Number(day[member] ?? 0), 0)
  const chart = (title, member, format, isBytes) => barChart(
    title, dailyStatistics.map((day) => ({ label: day.date, value: Number(day[member] ?? 0) })), format, isBytes)
  if (isUnused(statistics)) {
    body.replaceChildren(...[pageHeader('Overview'), attention(state), firstSteps(), state.system && systemProperties(state.system)]
      .filter(Boolean))
    return
  }
  body.replaceChildren(...[
    pageHeader('Overview', h('div', {
      onchange: (event) => { location.hash = `#/overview?days=${event.target.value}` },
    }, formField({ name: 'days', label: 'Period', type: 'select', value: days, options: periods }))),
    attention(state),
    h('div', { class: 'tiles' },
      tile('Stored', formatBytes(statistics.storedBytes), storedText(statistics, state), '#/objects'),
      tile('Uploads now', state.uploads === null ? '–' : state.uploads.toLocaleString('en'),
        state.uploads === null ? '' : `${formatBytes(state.uploadedBytes)} stored`, '#/uploads'),
      tile('Uploaded', formatBytes(sum('arrivedBytes')), formatCount(sum('arrivedObjects'), 'object')),
      tile('Downloads requested', formatBytes(sum('requestedBytes')), formatCount(sum('requestedObjects'), 'object')),
      tile('Deleted', formatBytes(sum('deletedBytes')), formatCount(sum('deletedObjects'), 'object')),
      state.system && state.system.freeBytes >= 0
        && tile('Disk free', formatBytes(state.system.freeBytes), `minimum ${formatBytes(state.system.minimum)}`)),
    h('div', { class: 'charts' },
      chart('Bytes stored at the end of the day', 'storedBytes', formatBytes, true),
      chart('Bytes uploaded', 'arrivedBytes', formatBytes, true),
      chart('Objects uploaded', 'arrivedObjects', (value) => formatCount(value, 'object'), false),
      chart('Bytes requested for download', 'requestedBytes', formatBytes, true)),
    h('p', { class: 'hint' }, 'Days begin at midnight UTC.'),
    h('div', { class: 'charts' }, shares('Objects by site', 'site', state), shares('Objects by device', 'device', state)),
    state.system && systemProperties(state.system),
  ].filter(Boolean))
}

/** Whether nothing was ever stored, as far as the statistics tell. */
function isUnused({ storedObjects = 0, days = [] }) {
  return Number(storedObjects) === 0 && days.every(({ arrivedObjects = 0, deletedObjects = 0, requestedObjects = 0 }) =>
    [arrivedObjects, deletedObjects, requestedObjects].every((count) => Number(count) === 0))
}

function systemProperties(system) {
  return propertyList([
    ['Version', system.version], ['Running since', timeElement(system.startedAt)],
    ['Certificate ends', timeElement(system.certificateEndsAt) ?? 'no listener uses TLS'],
    ...engineProperties(system.objectEngine),
  ])
}

/** The state of the bucket with the bytes of the objects, if they are in one. */
function engineProperties(engine) {
  if (!engine) return []
  const failure = engine.lastFailureAt && h('span', {}, timeElement(engine.lastFailureAt), ` ${engine.lastFailure}`)
  return [
    ['Objects are in', `bucket ${engine.bucket}, prefix ${engine.prefix || 'none'}`],
    ['Right to the prefix', engine.ownership],
    ['Slow bodies on the disk', `${formatBytes(engine.spoolBytes)} of ${formatBytes(engine.spoolLimitBytes)}`],
    ['Last failure of the bucket', failure ?? 'none since the start'],
  ]
}

/** The number of stored objects. The list of objects does not have those in the trash. */
function storedText({ storedObjects }, { listed }) {
  const trashed = listed === null ? 0 : Number(storedObjects ?? 0) - listed
  const text = formatCount(storedObjects, 'object')
  return trashed > 0 ? `${text}, ${trashed.toLocaleString('en')} in the trash` : text
}

/** The current state as far as the user's role may see it; what cannot be read is `null`. */
async function gatewayState() {
  const optional = (isAllowed, load) => (isAllowed ? load().catch(() => null) : null)
  const [uploads, facets, corrupted, silent, system] = await Promise.all([
    optional(true, () => call('uploads', 'ListUploads', { pageSize: 1000 })),
    optional(true, () => call('management', 'GetObjectFacets', {})),
    optional(hasRole('admin'), () => call('management', 'ListBadObjects', { pageSize: 100 })),
    optional(hasRole('operator'), countSilentDevices),
    optional(hasRole('system admin'), () => call('system', 'GetSystemStatus', {}, { organization: '' })),
  ])
  const list = uploads?.uploads ?? []
  return {
    uploads: uploads && list.length,
    uploadedBytes: list.reduce((total, upload) => total + Number(upload.storedBytes ?? 0), 0),
    facets: facets?.facets ?? [],
    listed: facets?.isExact ? Number(facets.count ?? 0) : null,
    corrupted: corrupted?.objects?.length ?? 0,
    hasMoreCorrupted: Boolean(corrupted?.nextPageToken),
    silent,
    system: system && { ...system, freeBytes: Number(system.storeFreeBytes ?? 0),
      minimum: Number(system.storeMinimumFreeBytes ?? 0) },
  }
}

/** What needs attention, most urgent first. */
function attention({ corrupted, hasMoreCorrupted, silent, system }) {
  const ends = system?.certificateEndsAt && Date.parse(system.certificateEndsAt) - Date.now()
  const notes = [
    system && system.freeBytes >= 0 && system.freeBytes < 2 * system.minimum
      && ['The disk is nearly full: new uploads are refused below the minimum.', '#/retention', 'Retention'],
    system?.objectEngine && system.objectEngine.ownership !== 'held'
      && ['The right to the prefix of the bucket is not confirmed: nothing is stored or removed.', null, ''],
    system?.objectEngine?.divergence
      && [`Nothing is removed from the bucket: ${system.objectEngine.divergence}.`, null, ''],
    ends && ends < certificateWarning && ['The TLS certificate ends soon.', null, ''],
    corrupted > 0 && [`${hasMoreCorrupted ? 'More than ' : ''}${formatCount(corrupted, 'corrupted object')}.`,
      '#/corrupted-objects', 'Show'],
    (system?.backupSchedules ?? []).some(isOverdue) && ['A scheduled backup is overdue.', '#/backup', 'Show'],
    silent?.count > 0 && [`${silent.hasMore ? 'More than ' : ''}${formatCount(silent.count, 'device')} silent for 3 days or more.`,
      silentDevices, 'Show'],
  ].filter(Boolean)
  if (notes.length === 0) return null
  return h('ul', { class: 'attention', 'aria-label': 'Needs attention' }, notes.map(([text, href, link]) =>
    h('li', { class: 'warning' }, text, ' ', href && h('a', { href }, link))))
}

function tile(title, value, detail, href) {
  return h('div', { class: 'tile' }, h('h2', {}, href ? h('a', { href }, title) : title),
    h('p', { class: 'big' }, value), h('p', {}, detail))
}

/** The objects with a value; a device and a site by their names. */
function valueLink(name, value) {
  const link = h('a', { href: objectsAddress(termFor(name, value)), class: 'id' }, name === 'site' ? siteName(value) : value)
  const element = h('span', { class: 'device' }, link)
  if (name !== 'device') return element
  withDeviceName(value, (text) => {
    if (!text) return
    link.textContent = text
    element.append(' ', h('small', { class: 'id' }, value))
  })
  return element
}

/** The values of a facet with their share of the objects. */
function shares(title, name, { facets }) {
  const values = (facets.find((facet) => facet.name === name)?.values ?? []).slice(0, 8)
  if (values.length === 0) return null
  const most = Math.max(...values.map(({ objects }) => Number(objects)))
  return h('figure', { class: 'chart' }, h('figcaption', {}, title), table([
    { title: name === 'site' ? 'Site' : 'Device', cell: ({ value }) =>
      valueLink(name, value) },
    { title: 'Share', cell: ({ objects, value }) =>
      h('meter', { min: 0, max: most, value: objects, 'aria-label': `Share of ${value}` }) },
    { title: 'Objects', isNumber: true, cell: ({ objects }) => Number(objects).toLocaleString('en') },
  ], values, ''))
}

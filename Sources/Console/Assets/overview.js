import { call, hasRole } from './api.js'
import { isOverdue } from './backup.js'
import { deviceLink, withDeviceName } from './device-names.js'
import { idleDevices, loadSilentDevices, silentDevices } from './device-list.js'
import { diskOf, diskWarning, fullText, usedText } from './disk.js'
import { h, pageHeader, propertyList } from './dom.js'
import { countRecentFailures, recentFailures } from './failed-uploads.js'
import { formField } from './dialog.js'
import { formatBytes, formatCount, formatDuration, timeElement } from './format.js'
import { dayChart } from './chart.js'
import { firstSteps } from './first-steps.js'
import { loadSiteNames, objectsAddress, siteName } from './object-facets.js'
import { termFor, termsOfDay } from './filter-terms.js'
import { go } from './organization-choice.js'
import { table } from './table.js'
import { flowText, levelText } from './trend.js'

const periods = [['7', 'Last 7 days'], ['30', 'Last 30 days'], ['90', 'Last 90 days'], ['365', 'Last 365 days']]
/** Time before the end of a certificate at which it is a warning, in milliseconds. */
const certificateWarning = 21 * 86_400_000
/** The days that a comparison of two weeks needs. */
const comparedDays = 14
/** Devices, sites and devices that stopped, in their lists. */
const shownValues = 8

/** Shows what is stored, what needs attention, and what happened on each day. */
export async function renderOverview(body, { query }) {
  const days = Number(query.get('days') ?? 30)
  const [statistics, state] = await Promise.all([
    call('management', 'GetStatistics', { days: Math.max(days, comparedDays) }), gatewayState(), loadSiteNames().catch(() => {})])
  const dailyStatistics = statistics.days ?? []
  const values = (member) => dailyStatistics.map((day) => Number(day[member] ?? 0))
  const sum = (member) => values(member).slice(-days).reduce((total, value) => total + value, 0)
  const chart = (title, member, { format, isBytes, href = () => null, summary = (all) => flowText(all, days, format) }) =>
    dayChart(title, dailyStatistics.slice(-days).map((day) => (
      { day: day.date, value: Number(day[member] ?? 0), href: href(day.date) })),
    { format, isBytes, summary: summary(values(member)) })
  const bytes = { format: formatBytes, isBytes: true }
  const uploads = { href: (day) => objectsAddress(termsOfDay(day)) }
  if (isUnused(statistics)) {
    body.replaceChildren(...[pageHeader('Overview'), attention(state), firstSteps(), state.system && systemProperties(state.system)]
      .filter(Boolean))
    return
  }
  body.replaceChildren(...[
    pageHeader('Overview', h('div', {
      onchange: (event) => { go(`#/overview?days=${event.target.value}`) },
    }, formField({ name: 'days', label: 'Period', type: 'select', value: days, options: periods }))),
    attention(state),
    h('div', { class: 'tiles' },
      tile('Stored', formatBytes(statistics.storedBytes),
        [storedText(statistics, state), '. ', h('a', { href: '#/storage' }, 'Show what fills the store')], '#/objects'),
      tile('Uploads now', state.uploads === null ? '–' : state.uploads.toLocaleString('en'),
        state.uploads === null ? '' : `${formatBytes(state.uploadedBytes)} stored`, '#/uploads'),
      tile('Uploaded', formatBytes(sum('arrivedBytes')), formatCount(sum('arrivedObjects'), 'object')),
      tile('Downloads requested', formatBytes(sum('requestedBytes')), formatCount(sum('requestedObjects'), 'object')),
      tile('Deleted permanently', formatBytes(sum('deletedBytes')), formatCount(sum('deletedObjects'), 'object')),
      state.disk && state.disk.free !== null && diskTile(state.disk)),
    h('div', { class: 'charts' },
      chart('Bytes stored at the end of the day', 'storedBytes', { ...bytes, ...uploads, summary: (all) => levelText(all, formatBytes) }),
      chart('Bytes uploaded', 'arrivedBytes', { ...bytes, ...uploads }),
      chart('Objects uploaded', 'arrivedObjects', { ...uploads, format: (value) => formatCount(value, 'object') }),
      chart('Bytes requested for download', 'requestedBytes', bytes)),
    h('p', { class: 'hint' }, 'Days begin at midnight UTC. Select a bar to see the objects whose uploads began on that day.'),
    h('div', { class: 'charts' }, shares('Objects by site', 'site', state), shares('Objects by device', 'device', state,
      hasRole('operator') && h('a', { href: idleDevices }, 'Without uploads for 3 days')),
      stoppedDevices(state)),
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

/** The number of objects as the list of objects has it, and that of those in the trash, which it does not have. */
function storedText({ storedObjects }, { listed }) {
  const trashed = listed === null ? 0 : Number(storedObjects ?? 0) - listed
  if (trashed <= 0) return formatCount(storedObjects, 'object')
  return `${formatCount(listed, 'object')} and ${trashed.toLocaleString('en')} in the trash`
}

/** The current state as far as the user's role may see it; what cannot be read is `null`. */
async function gatewayState() {
  const optional = (isAllowed, load) => (isAllowed ? load().catch(() => null) : null)
  const [uploads, failed, facets, corrupted, silent, system] = await Promise.all([
    optional(true, () => call('uploads', 'ListUploads', { pageSize: 1000 })),
    optional(true, countRecentFailures),
    optional(true, () => call('management', 'GetObjectFacets', {})),
    optional(hasRole('admin'), () => call('management', 'ListBadObjects', { pageSize: 100 })),
    optional(hasRole('operator'), loadSilentDevices),
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
    failed,
    silent,
    system,
    disk: system && diskOf(system),
  }
}

/** What needs attention, most urgent first. */
function attention({ corrupted, hasMoreCorrupted, failed, silent, system, disk }) {
  const ends = system?.certificateEndsAt && Date.parse(system.certificateEndsAt) - Date.now()
  const notes = [
    disk && diskWarning(disk) && [diskWarning(disk), '#/storage', 'Show what fills it'],
    system?.objectEngine && system.objectEngine.ownership !== 'held'
      && ['The right to the prefix of the bucket is not confirmed: nothing is stored or removed.', null, ''],
    system?.objectEngine?.divergence
      && [`Nothing is removed from the bucket: ${system.objectEngine.divergence}.`, null, ''],
    ends && ends < certificateWarning && ['The TLS certificate ends soon.', null, ''],
    corrupted > 0 && [`${hasMoreCorrupted ? 'More than ' : ''}${formatCount(corrupted, 'corrupted object')}.`,
      '#/corrupted-objects', 'Show'],
    (system?.backupSchedules ?? []).some(isOverdue) && ['A scheduled backup is overdue.', '#/backup', 'Show'],
    failed?.count > 0 && [`${failed.hasMore ? 'More than ' : ''}${formatCount(failed.count, 'upload')} failed in the last 24 hours.`,
      recentFailures, 'Show'],
    silent?.devices.length > 0 && [`${silentText(silent)} silent.`, silentDevices, 'Show'],
  ].filter(Boolean)
  if (notes.length === 0) return h('p', { class: 'hint' }, 'Nothing needs attention.')
  return h('ul', { class: 'attention', 'aria-label': 'Needs attention' }, notes.map(([text, href, link]) =>
    h('li', { class: 'warning' }, text, ' ', href && h('a', { href }, link))))
}

function silentText({ devices, hasMore }) {
  return `${hasMore ? 'More than ' : ''}${formatCount(devices.length, 'device')}`
}

/** The devices that are silent since the shortest time. */
function stoppedDevices({ silent }) {
  if (!silent || silent.devices.length === 0) return null
  return h('figure', { class: 'chart' },
    h('figcaption', {}, 'Devices that stopped', h('a', { href: silentDevices }, `Show ${silentText(silent).toLowerCase()}`)),
    table([
      { title: 'Device', cell: ({ deviceId }) => deviceLink(deviceId) },
      { title: 'Last seen', cell: ({ lastSeenAt }) => timeElement(lastSeenAt, { isShort: true }) ?? 'never' },
      { title: 'Silent for', isNumber: true, cell: ({ lastSeenAt }) => lastSeenAt
        && formatDuration(Math.round((Date.now() - Date.parse(lastSeenAt)) / 1000)) },
    ], silent.devices.slice(0, shownValues), ''))
}

function tile(title, value, detail, href) {
  return h('div', { class: 'tile' }, h('h2', {}, href ? h('a', { href }, title) : title),
    h('p', { class: 'big' }, value), h('p', {}, detail))
}

/** The free disk, and when it is full. */
function diskTile(disk) {
  const details = [usedText(disk), fullText(disk)].filter(Boolean).join(', ')
  return tile('Disk free', formatBytes(disk.free), details || `minimum ${formatBytes(disk.minimum)}`, '#/storage')
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

/** The values of a facet with their share of the objects. `more`: what leads to others. */
function shares(title, name, { facets }, more) {
  const values = (facets.find((facet) => facet.name === name)?.values ?? []).slice(0, shownValues)
  if (values.length === 0) return null
  const most = Math.max(...values.map(({ objects }) => Number(objects)))
  return h('figure', { class: 'chart' }, h('figcaption', {}, title, more), table([
    { title: name === 'site' ? 'Site' : 'Device', cell: ({ value }) =>
      valueLink(name, value) },
    { title: 'Share', cell: ({ objects, value }) =>
      h('meter', { min: 0, max: most, value: objects, 'aria-label': `Share of ${value}` }) },
    { title: 'Objects', isNumber: true, cell: ({ objects }) => Number(objects).toLocaleString('en') },
  ], values, ''))
}

import { call, callAll } from './api.js'
import { deviceFilter, exportDevices, loadDevicePage, reportedSilent } from './device-list.js'
import { deviceLink, forgetDevices, keepDeviceNames } from './device-names.js'
import { badge, button, h, pageHeader, showNotice } from './dom.js'
import { formField, showFormDialog } from './dialog.js'
import { enumLabel, parseTags, timeElement } from './format.js'
import { loadSiteNames } from './object-facets.js'
import { go } from './organization-choice.js'
import { createSuite, suiteText } from './suites.js'
import { pagedTable } from './table.js'

const statuses = [
  ['', 'All states'], ['DEVICE_STATUS_REGISTERED', 'Registered'], ['DEVICE_STATUS_INITIALIZED', 'Initialized'],
  ['DEVICE_STATUS_DISABLED', 'Disabled'], ['DEVICE_STATUS_RETIRED', 'Retired'],
]
const silences = [['', 'Any time'], [reportedSilent, 'Reported as silent'], ['0.0417', 'Over 1 hour ago'], ['1', 'Over 1 day ago'], ['3', 'Over 3 days ago'],
  ['7', 'Over 7 days ago'], ['30', 'Over 30 days ago']]
const idleTimes = [['', 'Any time'], ['1', 'Over 1 day ago'], ['3', 'Over 3 days ago'], ['7', 'Over 7 days ago'],
  ['30', 'Over 30 days ago']]
const orders = [['', 'Device id'], ['display_name', 'Name'], ['last_seen_at', 'Last seen, longest ago first'],
  ['last_seen_at desc', 'Last seen, latest first']]
/** The devices whose objects are counted, those with the most objects. */
const mostCounts = 1000
const badgeKinds = { DEVICE_STATUS_INITIALIZED: 'good', DEVICE_STATUS_DISABLED: 'bad' }

/** The device's state as a badge. */
export function deviceBadge(device) {
  return badge(enumLabel(device.status, 'DEVICE_STATUS_'), badgeKinds[device.status])
}

/** Returns all suites as `[name, text]`, the options of a select. */
export async function suiteOptions() {
  const [suites] = await Promise.all([
    callAll('devices', 'ListDeviceSuites', 'deviceSuites', { pageSize: 1000 }), loadSiteNames().catch(() => {})])
  const texts = suites.map(suiteText)
  const isUnique = (text) => texts.indexOf(text) === texts.lastIndexOf(text)
  return suites.map(({ name }, index) => [name, isUnique(texts[index]) ? texts[index] : `${texts[index]}, ${name}`])
}

/** Shows the organization's devices: those of a filter, which is in the page's address, in the order of choice. */
export async function renderDevices(body, { query, reload }) {
  const [suites, sites, countOf] = await Promise.all([
    suiteOptions(), callAll('admin', 'ListSites', 'sites'), objectCounts()])
  const suiteNames = new Map(suites)
  const filter = deviceFilter(query)
  const apply = (event) => {
    const chosen = new URLSearchParams(query)
    chosen.set(event.target.name, event.target.value)
    go(`#/devices?${chosen}`)
  }
  const isFiltered = Object.entries(filter).some(([name, value]) => name !== 'order' && value)
  body.replaceChildren(
    pageHeader('Devices', button('Export CSV', () => exportDevices(filter, 'csv')),
      button('Export JSON', () => exportDevices(filter, 'json')), button('New suite', () => createSuite(reload)),
      button('Register device', () => registerDevice(suites), 'primary')),
    h('div', { class: 'filters', onchange: apply },
      formField({ name: 'text', label: 'Search', type: 'search', value: filter.text, placeholder: 'id, name or tag',
        'data-shortcut': 'search' }),
      formField({ name: 'site', label: 'Site', type: 'select', value: filter.site,
        options: [['', 'All sites'], ...sites.map(({ siteId, name }) => [siteId, name])] }),
      formField({ name: 'suite', label: 'Suite', type: 'select', value: filter.suite,
        options: [['', 'All suites'], ...suites] }),
      formField({ name: 'status', label: 'State', type: 'select', value: filter.status, options: statuses }),
      formField({ name: 'silent', label: 'Last seen', type: 'select', value: filter.silent, options: silences }),
      formField({ name: 'idle', label: 'Last upload', type: 'select', value: filter.idle, options: idleTimes }),
      formField({ name: 'version', label: 'Program version', type: 'search', value: filter.version,
        placeholder: 'its beginning' }),
      formField({ name: 'order', label: 'Order', type: 'select', value: filter.order, options: orders })),
    pagedTable([
      { title: 'Device', cell: ({ deviceId, displayName = '' }) => {
        keepDeviceNames([[deviceId, displayName]])
        return deviceLink(deviceId)
      } },
      { title: 'Suite', cell: (device) => suiteNames.get(device.suite) ?? (device.suite || 'none') },
      { title: 'State', cell: (device) => [deviceBadge(device), device.silentSince && badge('silent', 'bad')] },
      { title: 'Objects', isNumber: true, cell: (device) => objectsLink(device, countOf) },
      { title: 'Program', isMinor: true, cell: (device) => device.sdkVersion || null },
      { title: 'Platform', isMinor: true, cell: (device) => device.platform || null },
      { title: 'Last seen', cell: (device) => timeElement(device.lastSeenAt, { isShort: true }) },
      { title: 'Last upload', isMinor: true, cell: (device) => timeElement(device.lastUploadAt, { isShort: true }) },
    ], (pageToken) => loadDevicePage(filter, pageToken), isFiltered
      ? 'No devices match the filter.'
      : firstDevice(suites)))
}

/** Returns a function that returns the number of objects of a device; `null` if it is not known. */
async function objectCounts() {
  try {
    const { facets = [] } = await call('management', 'GetObjectFacets', { facet: 'device', valueLimit: mostCounts })
    const { values = [], totalValues, isLowerBound } = facets[0] ?? {}
    const counts = new Map(values.map(({ value, objects }) => [value, Number(objects)]))
    const isComplete = !isLowerBound && Number(totalValues ?? 0) <= counts.size
    return (id) => counts.get(id) ?? (isComplete ? 0 : null)
  } catch {
    return () => null
  }
}

function objectsLink({ deviceId }, countOf) {
  const address = `#/objects?${new URLSearchParams({ filter: `device=${deviceId}` })}`
  return h('a', { href: address }, countOf(deviceId)?.toLocaleString('en') ?? 'Show')
}

/** What leads to the first device. */
function firstDevice(suites) {
  return suites.length > 0 ? 'No devices. Select “Register device” to add one.'
    : h('span', {}, 'No devices. A device needs a site (', h('a', { href: '#/keys' }, 'Sites and keys'),
      ') with a suite (', h('a', { href: '#/suites' }, 'Suites'), '). Then select “Register device”.')
}

function registerDevice(suites) {
  return showFormDialog({
    title: 'Register a device',
    fields: [
      { name: 'deviceId', label: 'Device id', placeholder: 'YYMMDD-NNNNNN', autocomplete: 'off',
        hint: 'If empty, the gateway generates an id: today’s date and six random digits.' },
      { name: 'displayName', label: 'Name' },
      { name: 'description', label: 'Description' },
      { name: 'suite', label: 'Suite', type: 'select', options: [['', 'None'], ...suites],
        hint: 'A device can be initialized only after it was added to a suite.' },
      { name: 'tags', label: 'Tags', type: 'textarea', placeholder: 'model=mk2',
        hint: 'One tag per line, as KEY=VALUE.' },
    ],
    submit: 'Register',
    action: async ({ tags, ...message }) => {
      const device = await call('devices', 'RegisterDevice', { ...message, tags: parseTags(tags) })
      forgetDevices()
      showNotice(`Device ${device.deviceId} was registered.`)
      go(`#/devices/${device.deviceId}`)
    },
  })
}

import { call } from './api.js'
import { deviceLink, keepDeviceNames } from './device-names.js'
import { badge, button, h, pageHeader, showNotice } from './dom.js'
import { formField, showFormDialog } from './dialog.js'
import { enumLabel, parseTags, timeElement } from './format.js'
import { createSuite } from './suites.js'
import { pagedTable } from './table.js'

const statuses = [
  ['', 'All states'], ['DEVICE_STATUS_REGISTERED', 'Registered'], ['DEVICE_STATUS_INITIALIZED', 'Initialized'],
  ['DEVICE_STATUS_DISABLED', 'Disabled'], ['DEVICE_STATUS_RETIRED', 'Retired'],
]
const badgeKinds = { DEVICE_STATUS_INITIALIZED: 'good', DEVICE_STATUS_DISABLED: 'bad' }

/** The device's state as a badge. */
export function deviceBadge(device) {
  return badge(enumLabel(device.status, 'DEVICE_STATUS_'), badgeKinds[device.status])
}

/** Returns all suites as `[name, text]`, the options of a select. */
export async function suiteOptions() {
  const { deviceSuites = [] } = await call('devices', 'ListDeviceSuites', { pageSize: 1000 })
  return deviceSuites.map((suite) => [suite.name, suiteName(suite)])
}

function suiteName(suite) {
  return suite.displayName ? `${suite.displayName} (${suite.name})` : suite.name
}

/** Days without a sign of life after which a device is shown as silent. */
const silentDays = 3

/** Shows the organization's devices, filtered by a text, suite and state. */
export async function renderDevices(body, { query, reload }) {
  const [suites, uploads] = await Promise.all([suiteOptions(), lastUploads()])
  const suiteNames = new Map(suites)
  const filter = { suite: query.get('suite') ?? '', status: query.get('status') ?? '', text: query.get('text') ?? '' }
  const apply = (event) => {
    const chosen = new URLSearchParams(query)
    chosen.set(event.target.name, event.target.value)
    location.hash = `#/devices?${chosen}`
  }
  const isFiltered = Object.values(filter).some(Boolean)
  body.replaceChildren(
    pageHeader('Devices', button('New suite', () => createSuite(reload)),
      button('Register device', () => registerDevice(suites), 'primary')),
    h('div', { class: 'filters', onchange: apply },
      formField({ name: 'text', label: 'Search', type: 'search', value: filter.text, placeholder: 'id, name or tag',
        'data-shortcut': 'search' }),
      formField({ name: 'suite', label: 'Suite', type: 'select', value: filter.suite,
        options: [['', 'All suites'], ...suites] }),
      formField({ name: 'status', label: 'State', type: 'select', value: filter.status, options: statuses })),
    pagedTable([
      { title: 'Device', cell: ({ deviceId, displayName = '' }) => {
        keepDeviceNames([[deviceId, displayName]])
        return deviceLink(deviceId)
      } },
      { title: 'Suite', cell: (device) => suiteNames.get(device.suite) ?? (device.suite || 'none') },
      { title: 'State', cell: (device) => [deviceBadge(device), isSilent(device) && badge('silent', 'bad')] },
      { title: 'Objects', isNumber: true, cell: (device) => objectsLink(device, uploads) },
      { title: 'Platform', cell: (device) => device.platform || null },
      { title: 'Last seen', cell: (device) => timeElement(device.lastSeenAt, { isShort: true }) },
    ], (pageToken) => loadDevices(filter, pageToken), isFiltered
      ? 'No devices match the filter.'
      : firstDevice(suites)))
}

/** Returns a page of devices; a text is searched in all of them, page by page. */
async function loadDevices({ suite, status, text }, pageToken) {
  const message = { suite, pageSize: text ? 1000 : 50, pageToken }
  if (status) message.status = status
  const { devices = [], nextPageToken } = await call('devices', 'ListDevices', message)
  const wanted = text.trim().toLowerCase()
  return { rows: devices.filter((device) => matches(device, wanted)), next: nextPageToken }
}

function matches({ deviceId, displayName = '', description = '', tags = {} }, text) {
  return [deviceId, displayName, description, ...Object.entries(tags).flat()]
    .some((each) => each.toLowerCase().includes(text))
}

/** The number of objects of the devices that have most of them. */
async function lastUploads() {
  try {
    const { facets = [] } = await call('management', 'GetObjectFacets', {})
    const devices = facets.find((facet) => facet.name === 'device')?.values ?? []
    return new Map(devices.map(({ value, objects }) => [value, objects]))
  } catch {
    return new Map()
  }
}

function objectsLink({ deviceId }, counts) {
  const address = `#/objects?${new URLSearchParams({ filter: `device=${deviceId}` })}`
  return h('a', { href: address }, counts.has(deviceId) ? Number(counts.get(deviceId)).toLocaleString('en') : 'Show')
}

/** Whether an initialized device has not called for some days. */
export function isSilent({ status, lastSeenAt }) {
  return status === 'DEVICE_STATUS_INITIALIZED' && lastSeenAt
    && Date.now() - Date.parse(lastSeenAt) > silentDays * 86_400_000
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
      showNotice(`Device ${device.deviceId} was registered.`)
      location.hash = `#/devices/${device.deviceId}`
    },
  })
}

import { call, hasRole } from './api.js'
import { badge, button, h, pageHeader, showNotice } from './dom.js'
import { formField, showFormDialog } from './dialog.js'
import { enumLabel, parseTags, timeElement } from './format.js'
import { pagedTable } from './table.js'

const statuses = [
  ['', 'All states'], ['DEVICE_STATUS_REGISTERED', 'Registered'], ['DEVICE_STATUS_INITIALIZED', 'Initialized'],
  ['DEVICE_STATUS_DISABLED', 'Disabled'],
]
const badgeKinds = { DEVICE_STATUS_INITIALIZED: 'good', DEVICE_STATUS_DISABLED: 'bad' }

/** The device's state as a badge. */
export function deviceBadge(device) {
  return badge(enumLabel(device.status, 'DEVICE_STATUS_'), badgeKinds[device.status])
}

/** A device's id, as a link to the device's page if the user's role may open it. */
export function deviceLink(id) {
  return hasRole('operator') ? h('a', { href: `#/devices/${id}`, class: 'id' }, id) : h('span', { class: 'id' }, id)
}

/** Returns all suites as `[name, text]`, the options of a select. */
export async function suiteOptions() {
  const { deviceSuites = [] } = await call('devices', 'ListDeviceSuites', { pageSize: 1000 })
  return deviceSuites.map((suite) => [suite.name, suiteName(suite)])
}

function suiteName(suite) {
  return suite.displayName ? `${suite.displayName} (${suite.name})` : suite.name
}

/** Shows the organization's devices, filtered by suite and state. */
export async function renderDevices(body, { query, reload }) {
  const suites = await suiteOptions()
  const suiteNames = new Map(suites)
  const filter = { suite: query.get('suite') ?? '', status: query.get('status') ?? '' }
  const applyFilter = (event) => {
    const chosen = new URLSearchParams(query)
    chosen.set(event.target.name, event.target.value)
    location.hash = `#/devices?${chosen}`
  }
  body.replaceChildren(
    pageHeader('Devices', button('New suite', () => createSuite(reload)),
      button('Register device', () => registerDevice(suites), 'primary')),
    h('div', { class: 'filters', onchange: applyFilter },
      formField({ name: 'suite', label: 'Suite', type: 'select', value: filter.suite,
        options: [['', 'All suites'], ...suites] }),
      formField({ name: 'status', label: 'State', type: 'select', value: filter.status, options: statuses })),
    pagedTable([
      { title: 'Device', cell: (device) => deviceLink(device.deviceId) },
      { title: 'Name', cell: (device) => device.displayName || null },
      { title: 'Suite', cell: (device) => suiteNames.get(device.suite) ?? (device.suite || 'none') },
      { title: 'State', cell: deviceBadge },
      { title: 'Platform', cell: (device) => device.platform || null },
      { title: 'Last seen', cell: (device) => timeElement(device.lastSeenAt) },
    ], async (pageToken) => {
      const message = { suite: filter.suite, pageSize: 50, pageToken }
      if (filter.status) message.status = filter.status
      const { devices = [], nextPageToken } = await call('devices', 'ListDevices', message)
      return { rows: devices, next: nextPageToken }
    }, filter.suite || filter.status
      ? 'No devices match the filter.' : 'No devices. Select “Register device” to add one.'))
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

async function createSuite(reload) {
  const { sites = [] } = await call('admin', 'ListSites')
  return showFormDialog({
    title: 'New suite',
    text: sites.length ? null : 'A suite belongs to a site, and the organization has no sites. Create a site on the '
      + 'page “Sites and keys” first.',
    fields: [
      { name: 'siteId', label: 'Site', type: 'select', required: true,
        options: sites.map((site) => [site.siteId, site.name]) },
      { name: 'displayName', label: 'Name', required: true },
      { name: 'description', label: 'Description' },
    ],
    submit: 'Create',
    action: async (message) => {
      const suite = await call('devices', 'CreateDeviceSuite', message)
      showNotice(`Suite “${suiteName(suite)}” was created.`)
      await reload()
    },
  })
}

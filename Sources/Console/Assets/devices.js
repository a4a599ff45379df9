import { call, hasRole } from './api.js'
import { badge, button, h, pageHeader, showNotice } from './dom.js'
import { formField, showFormDialog } from './dialog.js'
import { enumLabel, parseTags, timeElement } from './format.js'
import { pagedTable } from './table.js'

const statuses = [
  ['', 'Any state'], ['DEVICE_STATUS_REGISTERED', 'Registered'], ['DEVICE_STATUS_INITIALIZED', 'Initialized'],
  ['DEVICE_STATUS_DISABLED', 'Disabled'],
]
const badgeKinds = { DEVICE_STATUS_INITIALIZED: 'good', DEVICE_STATUS_DISABLED: 'bad' }

export function deviceBadge(device) {
  return badge(enumLabel(device.status, 'DEVICE_STATUS_'), badgeKinds[device.status])
}

/** A device's id, and behind it the device's page for those who may see that. */
export function deviceLink(id) {
  return hasRole('operator') ? h('a', { href: `#/devices/${id}`, class: 'id' }, id) : h('span', { class: 'id' }, id)
}

/** Every suite as `[name, text]`. */
export async function suiteOptions() {
  const { deviceSuites = [] } = await call('devices', 'ListDeviceSuites', { pageSize: 1000 })
  return deviceSuites.map((suite) => [suite.name, suiteName(suite)])
}

function suiteName(suite) {
  return suite.displayName ? `${suite.displayName} (${suite.name})` : suite.name
}

/** The devices of the organization. */
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
        options: [['', 'Any suite'], ...suites] }),
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
    }, 'There are no such devices.'))
}

function registerDevice(suites) {
  return showFormDialog({
    title: 'Register a device',
    fields: [
      { name: 'deviceId', label: 'Device id', placeholder: 'YYMMDD-NNNNNN', autocomplete: 'off',
        hint: 'Left empty, one is made: today’s date and six random digits.' },
      { name: 'displayName', label: 'Name' },
      { name: 'description', label: 'Description' },
      { name: 'suite', label: 'Suite', type: 'select', options: [['', 'none yet'], ...suites],
        hint: 'A device can be initialized once it is in a suite.' },
      { name: 'tags', label: 'Tags', type: 'textarea', hint: 'One KEY=VALUE a line.', placeholder: 'model=mk2' },
    ],
    submit: 'Register',
    action: async ({ tags, ...message }) => {
      const device = await call('devices', 'RegisterDevice', { ...message, tags: parseTags(tags) })
      showNotice(`${device.deviceId} is registered.`)
      location.hash = `#/devices/${device.deviceId}`
    },
  })
}

async function createSuite(reload) {
  const { sites = [] } = await call('admin', 'ListSites')
  return showFormDialog({
    title: 'New suite',
    text: sites.length ? null : 'A suite belongs to a site, and there is none yet.',
    fields: [
      { name: 'siteId', label: 'Site', type: 'select', required: true,
        options: sites.map((site) => [site.siteId, site.name]) },
      { name: 'displayName', label: 'Name', required: true },
      { name: 'description', label: 'Description' },
    ],
    submit: 'Create',
    action: async (message) => {
      const suite = await call('devices', 'CreateDeviceSuite', message)
      showNotice(`${suiteName(suite)} is there.`)
      await reload()
    },
  })
}

import { call, callAll } from './api.js'
import { exportRecords } from './export-file.js'
import { enumLabel } from './format.js'

/** The value of the filter `silent` for devices that the gateway reports as silent; others are numbers of days. */
export const reportedSilent = 'reported'
const secondsOfDay = 86_400

/** The filters of the list of devices as they are in the page's address. */
const names = ['text', 'site', 'suite', 'status', 'silent', 'idle', 'version', 'order']

/** Returns the filter in the page's address. */
export function deviceFilter(query) {
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? '']))
}

/** The address of the devices that are reported as silent. */
export const silentDevices = `#/devices?${new URLSearchParams({ silent: reportedSilent, order: 'last_seen_at desc' })}`

/** The address of the devices that completed no upload for three days. */
export const idleDevices = '#/devices?idle=3'

/** Returns the devices that are reported as silent, those first that stopped last: `{devices, hasMore}`. */
export async function loadSilentDevices() {
  const filter = { silent: reportedSilent, order: 'last_seen_at desc' }
  const { devices = [], nextPageToken } = await call('devices', 'ListDevices', { ...request(filter), pageSize: 1000 })
  return { devices, hasMore: Boolean(nextPageToken) }
}

/** Returns a page of devices; a text is searched in all of them, page by page. */
export async function loadDevicePage(filter, pageToken) {
  const { devices = [], nextPageToken } = await call('devices', 'ListDevices',
    { ...request(filter), withLastUpload: true, pageSize: filter.text ? 1000 : 50, pageToken })
  return { rows: withText(devices, filter), next: nextPageToken }
}

/** Downloads all devices of the filter as a file in the format `csv` or `json`. */
export async function exportDevices(filter, format) {
  const devices = await callAll('devices', 'ListDevices', 'devices', { ...request(filter), withLastUpload: true, pageSize: 1000 })
  const records = withText(devices, filter).map(exported)
  exportRecords('devices', format, records, Object.keys(exported({})))
}

function request({ site, suite, status, silent, idle, version, order }) {
  return {
    ...site && { siteId: site }, ...suite && { suite }, ...status && { status },
    ...silent === reportedSilent ? { reportedSilent: true }
      : silent && { silentForSeconds: Math.round(Number(silent) * secondsOfDay) || 0 },
    ...idle && { noUploadForSeconds: Math.round(Number(idle) * secondsOfDay) || 0 },
    ...version && { sdkVersion: version }, ...order && { orderBy: order },
  }
}

function withText(devices, { text }) {
  const wanted = text.trim().toLowerCase()
  return devices.filter(({ deviceId, displayName = '', description = '', tags = {} }) =>
    [deviceId, displayName, description, ...Object.entries(tags).flat()]
      .some((each) => each.toLowerCase().includes(wanted)))
}

/** The fields of a device for other programs, by the names of the command line. */
function exported(device) {
  return {
    device_id: device.deviceId, display_name: device.displayName ?? '', status: enumLabel(device.status, 'DEVICE_STATUS_'),
    suite: device.suite ?? '', site_id: device.siteId ?? '', last_seen_at: device.lastSeenAt ?? '',
    last_upload_at: device.lastUploadAt ?? '',
    initialized_at: device.initializedAt ?? '', sdk_version: device.sdkVersion ?? '', platform: device.platform ?? '',
  }
}

import { call, callAll, hasRole, isSystemUser, selectedOrganization } from './api.js'
import { deviceLink, keepDeviceNames, loadDevices, loadedDevices } from './device-names.js'
import { formField } from './dialog.js'
import { badge, button, h, nameText, pageHeader } from './dom.js'
import { exportPages } from './export-file.js'
import { enumLabel, formatBytes, timeElement } from './format.js'
import { loadSiteNames, siteName } from './object-facets.js'
import { pagedTable } from './table.js'

/** The value of the filter `cause` for uploads that no user ended. */
const unexpected = 'UNEXPECTED'
const causes = [['', 'All causes'], [unexpected, 'Aborted or expired'], ['ABORTED', 'Aborted by the device'],
  ['EXPIRED', 'Expired'], ['CANCELED', 'Canceled by a user'], ['DEVICE_RETIRED', 'Device retired']]
const day = 86_400
const periods = [['', 'Any time'], [String(day), 'Last 24 hours'], [String(7 * day), 'Last 7 days'],
  [String(30 * day), 'Last 30 days']]
const causePrefix = 'FAILED_UPLOAD_CAUSE_'
const pageSize = 50
/** Requests for one page: a page without matching uploads is continued. */
const mostRequests = 10
/** Uploads of one export. */
const exportLimit = 10_000
/** Uploads that the overview counts. */
const countLimit = 100
/** The filters in the page's address. */
const names = ['device', 'site', 'cause', 'since']

/** The address of the failed uploads of a filter. */
export function failedUploadsAddress(filter = {}) {
  const present = Object.entries(filter).filter(([, value]) => value)
  return `#/uploads?${new URLSearchParams([['view', 'failed'], ...present])}`
}

/** The address of the uploads of the last day that no user ended. */
export const recentFailures = failedUploadsAddress({ cause: unexpected, since: day })

/** Counts the uploads of the last day that no user ended: `{count, hasMore}`. */
export async function countRecentFailures() {
  const filter = { device: '', site: '', cause: unexpected, since: String(day) }
  const { uploads = [], nextPageToken } = await call('uploads', 'ListFailedUploads',
    { ...request(filter, Date.now()), pageSize: countLimit })
  return { count: uploads.length, hasMore: Boolean(nextPageToken) }
}

/** Shows the uploads that ended without an object: those of a filter, which is in the page's address. */
export async function renderFailedUploads(body, { query, signal, reload }) {
  const filter = Object.fromEntries(names.map((name) => [name, query.get(name) ?? '']))
  const [sites] = await Promise.all([callAll('admin', 'ListSites', 'sites'), loadSiteNames().catch(() => {}),
    filter.device && loadDevices().catch(() => {})])
  const wanted = request(filter, Date.now())
  const load = async (pageToken) => {
    const rows = []
    for (let count = 0, next = pageToken; ; count += 1) {
      const reply = await call('uploads', 'ListFailedUploads', { ...wanted, pageSize, pageToken: next })
      rows.push(...reply.uploads ?? [])
      next = reply.nextPageToken ?? ''
      if (!next || rows.length > 0 || count >= mostRequests || signal.aborted) return { rows, next }
    }
  }
  const apply = ({ target: { name, value } }) => { location.hash = failedUploadsAddress({ ...filter, [name]: value.trim() }) }
  const isFiltered = names.some((name) => filter[name])
  body.replaceChildren(
    pageHeader('Uploads', button('Export CSV', () => exportUploads(wanted, 'csv', signal)),
      button('Export JSON', () => exportUploads(wanted, 'json', signal)), button('Refresh', reload)),
    uploadViews('failed'),
    h('div', { class: 'filters', onchange: apply },
      formField({ name: 'device', label: 'Device', type: 'search', value: filter.device,
        placeholder: hasRole('operator') ? 'name or id' : 'id' }),
      formField({ name: 'site', label: 'Site', type: 'select', value: filter.site,
        options: [['', 'All sites'], ...sites.map(({ siteId, name }) => [siteId, name])] }),
      formField({ name: 'cause', label: 'Cause', type: 'select', value: filter.cause, options: causes }),
      formField({ name: 'since', label: 'Ended', type: 'select', value: filter.since, options: periods })),
    pagedTable(columns(), load, isFiltered ? 'No failed uploads match the filter.' : 'No failed uploads.'))
}

/** The links to uploads in progress and to failed ones, of which `current` is shown. */
export function uploadViews(current) {
  return h('nav', { class: 'views', 'aria-label': 'Views of uploads' },
    [['progress', 'In progress', '#/uploads'], ['failed', 'Failed', failedUploadsAddress()]].map(([name, title, href]) =>
      h('a', { href, 'aria-current': name === current && 'page' }, title)))
}

/** Returns the fields of ListFailedUploads for a filter. A period ends at `now`, in milliseconds. */
function request({ device, site, cause, since }, now) {
  const text = device.trim()
  const named = loadedDevices().find(({ displayName = '' }) => displayName.toLowerCase() === text.toLowerCase())
  const wanted = cause === unexpected ? ['ABORTED', 'EXPIRED'] : cause ? [cause] : []
  return {
    ...text && { deviceId: named?.deviceId ?? text }, ...site && { siteId: site },
    ...wanted.length > 0 && { causes: wanted.map((name) => causePrefix + name) },
    ...Number(since) > 0 && { since: new Date(now - Number(since) * 1000).toISOString() },
  }
}

function columns() {
  const seesAll = isSystemUser() && !selectedOrganization()
  return [
    { title: 'Name', cell: ({ fileName, uploadId }) => h('span', {},
      fileName ? nameText(fileName) : h('span', { class: 'muted' }, 'not known'),
      h('small', { title: 'Upload id' }, h('code', { class: 'id' }, uploadId))) },
    seesAll && { title: 'Organization', cell: ({ organization }) => organization || null },
    { title: 'Source', cell: ({ deviceId, deviceName = '', siteId }) => {
      if (!deviceId) return siteName(siteId)
      keepDeviceNames([[deviceId, deviceName]])
      return deviceLink(deviceId)
    } },
    { title: 'Site', isMinor: true, cell: ({ siteId }) => h('span', { class: 'words' }, siteName(siteId)) },
    { title: 'Cause', cell: ({ cause, endedBy }) => h('span', {}, badge(enumLabel(cause, causePrefix), isUnexpected(cause) ? 'bad' : ''),
      endedBy && h('small', { class: 'id' }, `by ${partyText(endedBy)}`)) },
    { title: 'Reason', cell: ({ reason }) => reason ? h('span', { class: 'words' }, reason) : null },
    { title: 'Stored', isNumber: true, cell: storedText },
    { title: 'Started', isMinor: true, cell: ({ createdAt }) => timeElement(createdAt, { isShort: true }) },
    { title: 'Ended', cell: ({ endedAt }) => timeElement(endedAt, { isShort: true }) },
  ].filter(Boolean)
}

function isUnexpected(cause) {
  return [`${causePrefix}ABORTED`, `${causePrefix}EXPIRED`].includes(cause)
}

function storedText({ storedBytes, fileSizeBytes }) {
  const total = Number(fileSizeBytes ?? 0)
  return total > 0 ? `${formatBytes(storedBytes)} of ${formatBytes(total)}` : formatBytes(storedBytes)
}

/** The party that ended an upload: an actor of the audit log. */
function partyText(actor = '') {
  const [kind, name = ''] = actor.split(':')
  return { device: 'the device', site: 'the site’s program', gateway: 'the gateway', user: name.split('/').pop() }[kind] ?? (actor || null)
}

const exportedColumns = ['ended_at', 'cause', 'reason', 'ended_by', 'file_name', 'device_id', 'device_name', 'site_id',
  'organization', 'stored_bytes', 'file_size_bytes', 'created_at', 'logical_upload_id', 'upload_id']

/** Downloads the uploads of the filter. */
async function exportUploads(wanted, format, signal) {
  const load = async (page) => {
    const { uploads = [], nextPageToken } = await call('uploads', 'ListFailedUploads', { ...wanted, ...page }, { isBackground: true })
    return { records: uploads.map(exported), nextPageToken }
  }
  return exportPages(load, { name: 'failed-uploads', format, columns: exportedColumns, limit: exportLimit, noun: 'upload', span: 'time', signal })
}

/** The fields of an upload for other programs, by the names of the command line. */
function exported(upload) {
  return {
    ended_at: upload.endedAt, cause: enumLabel(upload.cause, causePrefix), reason: upload.reason ?? '',
    ended_by: upload.endedBy ?? '', file_name: upload.fileName ?? '', device_id: upload.deviceId ?? '',
    device_name: upload.deviceName ?? '', site_id: Number(upload.siteId), organization: upload.organization ?? '',
    stored_bytes: Number(upload.storedBytes ?? 0), file_size_bytes: Number(upload.fileSizeBytes ?? 0),
    created_at: upload.createdAt, logical_upload_id: upload.logicalUploadId, upload_id: upload.uploadId,
  }
}

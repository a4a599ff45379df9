import { actorElement } from './actor.js'
import { call, hasRole } from './api.js'
import { dayChart } from './chart.js'
import { badge, h } from './dom.js'
import { termsOfDay } from './filter-terms.js'
import { formatBytes, formatCount, formatElapsed, timeElement } from './format.js'
import { objectsAddress } from './object-facets.js'
import { table } from './table.js'
import { flowText } from './trend.js'

/** The days of the chart, and the uploads that are read for it. */
const chartDays = 30
const [pageSize, pageLimit] = [1000, 3]
/** Uploads in the timeline, and lines of the audit log. */
const [shownUploads, shownLines] = [10, 100]
const eventTexts = {
  DisableDevice: 'Disabled', EnableDevice: 'Enabled', UpdateDevice: 'Edited', AllowReinit: 'Allowed to fetch a new key',
  InitDevice: 'Fetched its key', ReinitDevice: 'Fetched a new key', AddDeviceToSuite: 'Added to a suite',
  RemoveDeviceFromSuite: 'Removed from its suite', RegisterDevice: 'Registered',
  RotateDeviceKeys: 'Asked to replace its key', RotateCredential: 'Replaced its key',
  CreateOrRotateDeviceApiKey: 'Key created or rotated', RetireDevice: 'Retired', UnretireDevice: 'Returned to use',
  ReportSilentDevice: 'Reported as silent', ReportReturnedDevice: 'Called again after its silence',
}

/** The uploads of a device: bytes of each day, and a timeline of what happened. It loads by itself. */
export function deviceActivity(device, signal) {
  const content = h('div', { 'aria-busy': 'true' }, h('p', { class: 'empty' }, 'Loading…'))
  load(device).then((activity) => {
    if (!signal.aborted) content.replaceChildren(...show(device, activity))
  }).catch((error) => {
    if (!signal.aborted) content.replaceChildren(h('p', { class: 'alert', role: 'alert' }, error.message))
  }).finally(() => content.removeAttribute('aria-busy'))
  return h('section', { class: 'activity', 'aria-label': 'Activity' }, h('h2', {}, 'Activity'), content)
}

async function load({ deviceId }) {
  const filter = `device=${deviceId}`
  const [recent, first, last, underWay, lines] = await Promise.all([
    recentObjects(filter), call('objects', 'ListObjects', { filter, orderBy: 'created', pageSize: 1 }),
    call('objects', 'ListObjects', { filter, pageSize: 1 }),
    call('uploads', 'ListUploads', { pageSize: 1000 }), hasRole('admin') ? auditLines(deviceId) : [],
  ])
  return {
    ...recent, first: first.objects?.[0], last: last.objects?.[0], lines,
    uploads: (underWay.uploads ?? []).filter((upload) => upload.deviceId === deviceId),
  }
}

/** The newest objects of the days of the chart. */
async function recentObjects(filter) {
  const since = utcDay(Date.now() - (chartDays - 1) * 86_400_000)
  const objects = []
  let pageToken = ''
  for (let page = 0; page < pageLimit; page += 1) {
    const reply = await call('objects', 'ListObjects', { filter: `${filter} created>=${since}`, pageSize, pageToken })
    objects.push(...reply.objects ?? [])
    pageToken = reply.nextPageToken ?? ''
    if (!pageToken) break
  }
  return { objects, isPartial: pageToken !== '' }
}

/** The newest lines of the audit log about the device, apart from uploads, which the timeline shows as such. */
async function auditLines(deviceId) {
  const actor = `device:${deviceId}`
  const replies = await Promise.all([
    { target: `devices/${deviceId}` }, { actor, actionGroup: 'AUDIT_ACTION_GROUP_ACCESS' }, { actor, result: '!OK' },
  ].map((filter) => call('audit', 'ListAuditLines', { newestFirst: true, pageSize: shownLines, ...filter })))
  const found = replies.flatMap(({ lines = [] }) => lines)
  return [...new Map(found.map((line) => [line.lineId, line])).values()]
}

function utcDay(milliseconds) {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

function show(device, { objects, isPartial, first, last, uploads, lines }) {
  const bytes = new Map(Array.from({ length: chartDays }, (_, index) =>
    [utcDay(Date.now() - (chartDays - 1 - index) * 86_400_000), 0]))
  for (const { verifiedAtUnix, sizeBytes } of objects) {
    const day = utcDay(Number(verifiedAtUnix) * 1000)
    if (bytes.has(day)) bytes.set(day, bytes.get(day) + Number(sizeBytes ?? 0))
  }
  return [
    h('p', {}, ...last ? ['Last upload: ', timeElement(last.verifiedAtUnix), '.'] : ['This device has uploaded nothing yet.']),
    h('div', { class: 'charts' }, dayChart('Bytes uploaded', [...bytes].map(([day, value]) => (
      { day, value, href: objectsAddress(`device=${device.deviceId} ${termsOfDay(day)}`) })),
    { format: formatBytes, isBytes: true, summary: flowText([...bytes.values()], chartDays, formatBytes) })),
    isPartial && h('p', { class: 'hint' }, `Only the newest ${formatCount(objects.length, 'upload')} are counted.`),
    table([
      { title: 'Time', cell: ({ at }) => timeElement(at) },
      { title: 'Event', cell: ({ text }) => h('span', { class: 'id' }, text) },
      { title: 'Details', cell: ({ details }) => details ?? null },
    ], timeline(device, objects, first, uploads, lines), 'Nothing has happened yet.'),
  ].filter(Boolean)
}

/** The events of a device, newest first. */
function timeline(device, objects, first, uploads, lines) {
  const seconds = (unix) => new Date(Number(unix) * 1000).toISOString()
  const objectLink = ({ fileId, name }) => h('a', { href: `#/objects/${fileId}` }, name)
  const events = [
    { at: device.createdAt, text: 'Registered' },
    device.initializedAt && { at: device.initializedAt, text: 'Fetched its key' },
    ...uploads.map((upload) => ({ at: upload.createdAt, text: badge('upload in progress'),
      details: `${upload.fileName || 'a file'}: ${formatBytes(upload.storedBytes)} stored` })),
    ...(device.diagnosis?.failedUploads ?? []).map(({ beganAt, fileName, uploadId, reason }) => ({
      at: beganAt, text: badge('upload failed', 'bad'), details: `${fileName || uploadId}: ${reason}`,
    })),
    ...objects.slice(0, shownUploads).map((object) => ({
      at: seconds(object.verifiedAtUnix), text: 'Uploaded a file',
      details: [objectLink(object), `: ${formatBytes(object.sizeBytes)} in ${
        formatElapsed(object.createdAtUnix, object.verifiedAtUnix)}`],
    })),
    first && !objects.slice(0, shownUploads).some(({ fileId }) => fileId === first.fileId)
      && { at: seconds(first.verifiedAtUnix), text: 'First upload', details: objectLink(first) },
    ...lines.filter(({ action }) => !['RegisterDevice', 'InitDevice'].includes(action)).map((line) => ({
      at: line.at, text: line.result === 'OK' ? eventTexts[line.action] ?? line.action : badge(`${line.action} refused`, 'bad'),
      details: line.result === 'OK' ? ['by ', actorElement(line.actor)] : `${line.result}${line.count > 1 ? `, ${line.count} times` : ''}`,
    })),
  ]
  return events.filter(Boolean).sort((one, other) => Date.parse(other.at) - Date.parse(one.at))
}

import { call, hasRole } from './api.js'
import { deviceLink } from './device-names.js'
import { showFormDialog } from './dialog.js'
import { alertMessage, badge, button, h, nameLink, nameText, pageHeader, showNotice } from './dom.js'
import { renderFailedUploads, uploadViews } from './failed-uploads.js'
import { formatBytes, formatCount, formatDuration, formatElapsed, timeElement } from './format.js'
import { hasSeveralOrganizations, inOrganization, seesAllOrganizations } from './organization-choice.js'
import { table, updateTable } from './table.js'
import { siteName, loadSiteNames } from './object-facets.js'
import { uploadPanel } from './upload-panel.js'
import { UploadRates } from './upload-rates.js'
import { wait } from './wait.js'

/** Time between two updates of the page, in milliseconds. */
const refreshInterval = 1000
/** Objects in the list of finished uploads. */
const recentLimit = 8

/** Shows the uploads in progress and updates them every second; below them, what was finished lately. Or those that failed. */
export async function renderUploads(body, page) {
  const { query, signal } = page
  if (query.get('view') === 'failed') return renderFailedUploads(body, page)
  const list = h('div', {}, h('p', { class: 'empty' }, 'Loading…'))
  const hint = h('p', { class: 'hint', hidden: true }, 'Only the 100 newest uploads are shown.')
  const finished = h('div', {})
  const rates = new UploadRates()
  let known = new Set()
  const panel = uploadPanel(signal)
  body.replaceChildren(...[
    pageHeader('Uploads'), uploadViews('progress'), panel, h('h2', {}, 'In progress'), list, hint,
    h('h2', {}, 'Recently finished'), finished,
  ].filter(Boolean))
  await loadSiteNames().catch(() => {})
  showFinished(finished)

  async function update() {
    try {
      const { uploads = [], nextPageToken } = await call(
        'uploads', 'ListUploads', { pageSize: 100 }, { isBackground: true })
      if (signal.aborted) return
      rates.update(uploads)
      updateTable(list, table(
        columns(rates), uploads, 'No uploads in progress.', (upload) => upload.uploadId))
      hint.hidden = !nextPageToken
      const current = new Set(uploads.map((upload) => upload.uploadId))
      if ([...known].some((id) => !current.has(id))) showFinished(finished)
      known = current
    } catch (error) {
      if (!signal.aborted) list.replaceChildren(alertMessage(error.message))
    }
  }
  async function watch() {
    while (!signal.aborted) {
      if (!document.hidden) await update()
      await wait(refreshInterval, signal)
    }
  }
  watch()
  return undefined
}

/** Shows the objects that were completed last. */
async function showFinished(container) {
  try {
    const { objects = [] } = await call('objects', 'ListObjects', { pageSize: recentLimit, withOrganizations: seesAllOrganizations() }, { isBackground: true })
    container.replaceChildren(table([
      { title: 'Name', cell: (object) => nameLink(object.name, inOrganization(`#/objects/${object.fileId}`, object.organization || undefined)) },
      ...organizationColumn(),
      { title: 'Source', cell: (object) => source(object) },
      { title: 'Size', isNumber: true, cell: (object) => formatBytes(object.sizeBytes) },
      { title: 'Took', isNumber: true, cell: ({ createdAtUnix, verifiedAtUnix }) =>
        formatElapsed(createdAtUnix, verifiedAtUnix) },
      { title: 'Completed', cell: (object) => timeElement(object.verifiedAtUnix, { isShort: true }) },
    ], objects, 'No objects yet.'))
  } catch (error) {
    container.replaceChildren(alertMessage(error.message))
  }
}

function source({ deviceId, siteId, organization }) {
  return deviceId ? deviceLink(deviceId, organization || undefined) : siteName(siteId)
}

/** The column of organizations, for lists of all. */
function organizationColumn() {
  return hasSeveralOrganizations() ? [{ title: 'Organization', cell: ({ organization }) => organization || null }] : []
}

function columns(rates) {
  return [
    { title: 'Name', cell: ({ fileName, uploadId }) => h('span', {},
      fileName ? nameText(fileName) : h('span', { class: 'muted' }, 'not known yet'),
      h('small', { title: 'Upload id' }, h('code', { class: 'id' }, uploadId))) },
    ...organizationColumn(),
    { title: 'Source', cell: source },
    { title: 'Progress', cell: (upload) => progress(upload) },
    { title: 'Rate', isNumber: true, cell: (upload) => rates.text(upload.uploadId) },
    { title: 'Remaining', isNumber: true, cell: (upload) => remaining(upload, rates) },
    { title: 'State', cell: (upload) => stateBadge(upload, rates) },
    { title: 'Parts', isNumber: true, cell: (upload) => formatCount(upload.partCount, 'part') },
    { title: 'Started', cell: (upload) => timeElement(upload.createdAt, { isShort: true }) },
    ...hasRole('operator') ? [{ title: '', isActions: true,
      cell: (upload) => button('Abort', () => abortUpload(upload), 'danger') }] : [],
  ]
}

/** The stored bytes; with a bar where the client told the total. */
function progress({ storedBytes, fileSizeBytes, isWhole }) {
  const [stored, total] = [Number(storedBytes ?? 0), Number(fileSizeBytes ?? 0)]
  if (!total) return h('span', {}, `${formatBytes(stored)}${isWhole ? '' : ', size not known yet'}`)
  return h('span', { class: 'progress-cell' },
    h('progress', { max: total, value: Math.min(stored, total), 'aria-label': 'Stored' }),
    `${formatBytes(stored)} of ${formatBytes(total)}`)
}

function remaining({ uploadId, storedBytes, fileSizeBytes }, rates) {
  const left = Number(fileSizeBytes ?? 0) - Number(storedBytes ?? 0)
  const rate = rates.bytesPerSecond(uploadId)
  return left > 0 && rate > 0 ? formatDuration(Math.ceil(left / rate)) : null
}

function stateBadge(upload, rates) {
  if (upload.isWhole) return badge('all bytes stored', 'good')
  const seconds = rates.stalledSeconds(upload.uploadId)
  return seconds >= 15 ? badge('stalled', 'bad') : badge('in progress')
}

function abortUpload(upload) {
  return showFormDialog({
    title: 'Abort this upload?', submit: 'Abort', isDangerous: true,
    text: `${formatBytes(upload.storedBytes)} of ${upload.fileName || 'the file'} are removed. The device learns of it with `
      + 'its next call; it can start the upload again.',
    fields: [{ name: 'reason', label: 'Reason', maxlength: 512 }],
    action: async ({ reason }) => {
      await call('uploads', 'CancelUpload', { logicalUploadId: upload.logicalUploadId, reason })
      showNotice('The upload was aborted.')
    },
  })
}

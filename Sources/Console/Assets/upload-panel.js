import { hasRole } from './api.js'
import { badge, button, h, nameLink, nameText } from './dom.js'
import { formatBytes, formatCount, formatDuration } from './format.js'
import { table, updateTable } from './table.js'
import { acceptDrops, chooseButtons } from './upload-dialog.js'
import { discard, uploadQueue } from './upload-queue.js'
import { dropDoneRecords, dropRecord, interruptedUploads } from './upload-records.js'

/** Rows that are shown of a long queue. */
const rowLimit = 100

/** The uploads of this browser: where files are dropped, and their progress; `null` if the user may not upload. */
export function uploadPanel(signal) {
  if (!hasRole('operator')) return null
  const drop = h('div', { class: 'drop' }, h('p', {}, 'Drop files or folders here to upload them.'),
    h('div', { class: 'actions' }, chooseButtons()))
  const summary = h('div', { class: 'upload-summary' })
  const list = h('div', {})
  const hint = h('p', { class: 'hint' })
  const interrupted = h('div', {})
  acceptDrops(drop)
  const draw = () => {
    drawSummary(summary)
    const { uploads } = uploadQueue
    const shown = visibleUploads(uploads)
    if (uploads.length === 0) list.replaceChildren()
    else updateTable(list, table(columns, shown, '', (upload) => upload.key))
    hint.hidden = uploads.length === shown.length
    hint.textContent = `${formatCount(uploads.length - shown.length, 'more file')} in the queue.`
    drawInterrupted(interrupted)
  }
  uploadQueue.onChange(draw, signal)
  draw()
  return h('section', { class: 'uploader', 'aria-label': 'Uploads of this browser' }, drop, summary, list, hint, interrupted)
}

/** The uploads that a person looks for first: what is sent and what failed, then the others in their order. */
function visibleUploads(uploads) {
  const rank = { sending: 0, failed: 1, waiting: 2, done: 3, skipped: 4 }
  return [...uploads].sort((first, second) => rank[first.state] - rank[second.state]).slice(0, rowLimit)
}

function drawSummary(summary) {
  const { files, finished, failed, bytes, sent } = uploadQueue.totals
  if (files === 0) return summary.replaceChildren()
  const rate = uploadQueue.rate
  const text = uploadQueue.isActive
    ? [`${finished} of ${formatCount(files, 'file')}, ${formatBytes(sent)} of ${formatBytes(bytes)}`,
      uploadQueue.isPaused && ', waiting',
      rate > 0 && `, ${formatBytes(rate)}/s, ${formatDuration(Math.ceil((bytes - sent) / rate))} remaining`]
    : [`${formatCount(finished, 'file')} uploaded`, failed > 0 && `, ${failed} failed`]
  const bar = summary.querySelector('progress') ?? h('progress', { 'aria-label': 'All uploads' })
  bar.max = Math.max(1, bytes)
  bar.value = bytes === 0 && !uploadQueue.isActive ? 1 : sent
  const status = summary.querySelector('p') ?? h('p', {})
  status.textContent = text.filter(Boolean).join('')
  const clear = summary.querySelector('button') ?? button('Clear the list', () => uploadQueue.clear())
  clear.hidden = uploadQueue.isActive
  if (!bar.isConnected) summary.replaceChildren(status, clear, bar)
}

const columns = [
  { title: 'File', cell: (upload) => (upload.fileId
    ? nameLink(upload.name, `#/objects/${upload.fileId}`) : nameText(upload.name)) },
  { title: 'Folder', cell: (upload) => upload.folder || null },
  { title: 'Size', isNumber: true, cell: (upload) => formatBytes(upload.size) },
  { title: 'State', cell: (upload) => stateCell(upload) },
  { title: '', isActions: true, cell: (upload) => actions(upload) },
]

function stateCell(upload) {
  if (upload.state === 'failed') return h('span', {}, badge('failed', 'bad'), ` ${upload.error}`)
  if (upload.state === 'done') return badge('uploaded', 'good')
  if (upload.state === 'skipped') return badge('uploaded before', 'good')
  if (upload.state === 'waiting') return badge('waiting')
  if (upload.pause) return h('span', {}, badge('waiting', 'bad'), ` ${pauseText(upload.pause)}`)
  return `${Math.floor(100 * upload.sent / Math.max(1, upload.size))} %`
}

/** What an upload waits for, and when it tries again. */
function pauseText({ reason, until }) {
  const seconds = Math.ceil((until - Date.now()) / 1000)
  return `${reason}; next try ${seconds > 0 ? `in ${formatDuration(seconds)}` : 'now'}`
}

function actions(upload) {
  if (upload.state === 'done' || upload.state === 'skipped') return ''
  return [
    upload.pause && button('Try now', () => upload.pause?.end()),
    upload.state === 'failed' && button('Try again', () => uploadQueue.retry(upload)),
    button('Cancel', () => uploadQueue.cancel(upload)),
  ]
}

/** The uploads that a reload interrupted: they continue when their files are chosen again. */
async function drawInterrupted(container) {
  const found = await interruptedUploads()
  const known = new Set(uploadQueue.uploads.map(({ key }) => key))
  const records = found.filter(({ key }) => !known.has(key))
  if (records.length === 0) return container.replaceChildren()
  const remove = async (record) => {
    dropRecord(record.key)
    if (records.length === 1 && !uploadQueue.isActive) dropDoneRecords()
    await drawInterrupted(container)
    await discard(record)
  }
  return updateTable(container, h('div', {},
    h('h2', {}, 'Interrupted uploads'),
    h('p', { class: 'hint' }, 'Choose or drop these files again: their uploads continue after the last stored part.'),
    table([
      { title: 'File', cell: (record) => record.name },
      { title: 'Folder', cell: (record) => record.folder || null },
      { title: 'Size', isNumber: true, cell: (record) => formatBytes(record.size) },
      { title: '', isActions: true, cell: (record) => button('Discard', () => remove(record)) },
    ], records.slice(0, rowLimit), '', (record) => record.key)))
}

/** Shows the progress of the uploads at the bottom of other pages while they run. */
export function watchUploads() {
  const link = h('a', { href: '#/uploads' }, 'Uploads')
  const status = h('aside', { class: 'upload-status', 'aria-label': 'Upload progress', hidden: true }, link)
  document.body.append(status)
  const isElsewhere = () => !location.hash.startsWith('#/uploads')
  addEventListener('hashchange', () => { status.hidden = !uploadQueue.isActive || !isElsewhere() })
  uploadQueue.onChange(() => {
    const { files, finished, bytes, sent } = uploadQueue.totals
    status.hidden = !uploadQueue.isActive || !isElsewhere()
    const { pause } = uploadQueue.uploads.find((each) => each.pause) ?? {}
    link.textContent = uploadQueue.isPaused && pause ? `Uploads wait: ${pause.reason}`
      : `Uploading ${formatCount(files - finished, 'file')}, ${Math.floor(100 * sent / Math.max(1, bytes))} %`
  })
}

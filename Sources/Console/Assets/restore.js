import { call } from './api.js'
import { ArchiveUpload, discardArchive, ownFile } from './archive-upload.js'
import { alertMessage, button, h, propertyList, showNotice } from './dom.js'
import { formField, showFormDialog } from './dialog.js'
import { formatBytes, formatCount, formatDuration, timeElement } from './format.js'
import { applyArchive, deletePreviousData, returnToPreviousData } from './restore-steps.js'
import { table } from './table.js'

/** The rows of the comparison: the field of a summary, and its title. */
const kinds = [
  ['organizations', 'Organizations'], ['users', 'Users'], ['sites', 'Sites'], ['devices', 'Devices'],
  ['objects', 'Objects'], ['objectBytes', 'Size of the objects'],
]

/**
 * The section that stages, shows and applies an archive, and a notice about the last restore for the top of the page.
 * `signal` is aborted when the page is left.
 */
export async function restoreSections(signal) {
  const [notice, section] = [h('div', { class: 'restore' }), h('div', { class: 'restore' })]
  const show = async () => {
    const state = await call('restore', 'GetRestore', {}, { organization: '' })
    notice.replaceChildren(...[lastRestore(state, show)].filter(Boolean))
    section.replaceChildren(state.archive ? stagedArchive(state, show) : uploadForm(state, signal, show))
  }
  await show()
  return { notice, section }
}

/** The result of the last restore, and what can be done with the previous data. */
function lastRestore({ lastRestore: last, previousData: previous }, reload) {
  if (!last && !previous) return null
  return h('div', { class: 'card' },
    last && h('p', { class: last.failure && 'alert' }, resultText(last)),
    last && propertyList([
      ['Backup time', timeElement(last.backupTime)], ['Finished', timeElement(last.finishedAt)],
      ['Requester', last.requestedBy],
      ['Objects', !last.failure && last.backupTime && formatCount(last.objects, 'object')],
      ['Missing', Number(last.missingObjects ?? 0) > 0 && formatCount(last.missingObjects, 'object')],
      ['Left out', Number(last.damagedObjects ?? 0) > 0 && formatCount(last.damagedObjects, 'damaged object')],
      ['In quarantine', Number(last.quarantinedFiles ?? 0) > 0
        && `${formatCount(last.quarantinedFiles, 'file')} that the archive does not know. “data-gateway doctor” lists them.`],
      ['Previous data', previous && h('code', {}, previous.folder)],
    ].map(([name, value]) => [name, value || null])),
    previous && h('p', {}, 'The data before the restore are kept until you delete them. Check the restored data first.'),
    previous && h('div', { class: 'actions' },
      button('Delete previous data', () => deletePreviousData(previous, reload), 'danger'),
      button('Return to previous data', () => returnToPreviousData(last))))
}

function resultText({ failure, backupTime }) {
  if (failure) return `The last restore failed and changed no data: ${failure}.`
  return backupTime ? 'The gateway was restored from a backup.' : 'The gateway has its previous data again.'
}

function uploadForm(state, signal, reload) {
  const errorArea = h('div', {})
  const arriving = h('div', {}, arrivingArchive(state, reload))
  const progress = h('div', { role: 'status' })
  const submit = h('button', { type: 'submit', class: 'primary' }, 'Upload and check')
  const cancel = button('Cancel', () => transfer.abort())
  cancel.hidden = true
  let transfer = new AbortController()
  const form = h('form', { class: 'card' },
    h('p', {}, 'An archive is checked while it is uploaded, and changes nothing until you confirm it. Keep this page open '
      + 'during the upload.'),
    arriving,
    formField({ name: 'archive', label: 'Archive', type: 'file', required: true, hint: 'A file made by a backup.' }),
    formField({ name: 'passphrase', label: 'Passphrase', type: 'password', autocomplete: 'off',
      hint: 'Only for an encrypted archive.' }),
    progress, errorArea, h('div', { class: 'actions' }, submit, cancel))
  // The upload can continue when the page is opened again.
  signal.addEventListener('abort', () => transfer.abort())
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    transfer = new AbortController()
    const values = new FormData(form)
    const upload = new ArchiveUpload(values.get('archive'), values.get('passphrase'))
    for (const area of [arriving, errorArea]) area.replaceChildren()
    submit.disabled = true
    cancel.hidden = false
    try {
      await sendOrCancel(upload, { signal: transfer.signal, confirmReplacement, ...progressDisplay(progress) }, signal)
      if (!signal.aborted) await reload()
    } catch (error) {
      errorArea.replaceChildren(alertMessage(error.message))
    } finally {
      progress.replaceChildren()
      submit.disabled = false
      cancel.hidden = true
    }
  })
  return form
}

/** Sends an archive until it is canceled, or the page is left. */
async function sendOrCancel(upload, options, pageSignal) {
  try {
    await upload.send(options)
  } catch (error) {
    if (!options.signal.aborted) throw error
    if (pageSignal.aborted) return
    await upload.discard()
    showNotice('The upload was canceled.')
  }
}

/** Asks whether an archive that is uploaded elsewhere, or was uploaded meanwhile, may be replaced. */
async function confirmReplacement({ archive }) {
  let isConfirmed = false
  await showFormDialog({
    title: 'Replace the other archive?', text: archive
      ? 'Another archive was uploaded in the meantime. It is removed, and yours takes its place.'
      : 'An archive is being uploaded elsewhere. What has arrived of it is removed, and yours takes its place.',
    submit: 'Replace', isDangerous: true, action: () => { isConfirmed = true },
  })
  return isConfirmed
}

/** What the gateway has of an archive that has not arrived completely; `null` if it has nothing. */
function arrivingArchive({ arriving }, reload) {
  if (!arriving) return null
  const isStopped = arriving.isInterrupted && ownFile(arriving)
  return h('div', { class: 'warning' }, h('p', {}, arrivingText(arriving)),
    button('Discard', () => isStopped ? discard(arriving, reload) : confirmDiscard(arriving, reload)))
}

function arrivingText(arriving) {
  const arrived = formatBytes(arriving.receivedBytes ?? 0)
  const file = ownFile(arriving)
  if (!file) return `An archive is being uploaded elsewhere: ${arrived} have arrived.`
  const part = `${arrived} of ${formatBytes(file.size)}`
  return arriving.isInterrupted
    ? `The upload of “${file.name}” stopped after ${part}. Choose the file again to continue; the passphrase is not needed again.`
    : `“${file.name}” is being uploaded: ${part} have arrived. Unless another tab uploads it, choose the file again to continue.`
}

async function discard({ stagingId }, reload) {
  await discardArchive(stagingId)
  await reload()
}

function confirmDiscard(arriving, reload) {
  return showFormDialog({
    title: 'Discard the archive?', text: 'The archive is being uploaded elsewhere. What has arrived is removed, and the upload ends.',
    submit: 'Discard', isDangerous: true, action: () => discard(arriving, reload),
  })
}

/** Returns functions that show how many bytes were sent, and that the connection was lost. */
function progressDisplay(area) {
  const began = performance.now()
  let first = null
  const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Upload' })
  const text = h('p', {})
  area.replaceChildren(bar, text)
  const onLost = () => {
    text.textContent = 'The connection was lost. Trying again…'
  }
  const onProgress = (sent, size) => {
    bar.max = Math.max(1, size)
    bar.value = sent
    first ??= sent
    const seconds = (performance.now() - began) / 1000
    const left = sent > first ? `, ${formatDuration(Math.ceil((size - sent) * seconds / (sent - first)))} left` : ''
    text.textContent = sent >= size ? 'Sent. The end of the archive is being checked…'
      : `${formatBytes(sent)} of ${formatBytes(size)}${left}`
  }
  return { onProgress, onLost }
}

function stagedArchive({ archive, lastRestore, previousData }, reload) {
  const { content = {}, present = {}, lacking = {} } = archive
  const value = (summary, name) => name === 'objectBytes' ? formatBytes(summary[name]) : String(summary[name] ?? 0)
  const loses = kinds.some(([name]) => Number(lacking[name] ?? 0) > 0)
  return h('div', { class: 'card' },
    h('p', {}, 'The archive is complete and intact. Nothing has changed yet.'),
    propertyList([
      ['Backup time', timeElement(archive.backupTime)],
      ['Age', formatDuration(Math.max(0, Math.round((Date.now() - Date.parse(archive.backupTime)) / 1000)))],
      ['Origin', archive.isOfThisGateway ? 'this gateway' : 'another gateway'],
      ['Size', formatBytes(archive.sizeBytes)],
      ['Object data', archive.hasObjects ? 'in the archive' : 'not in the archive: the gateway’s store has it'],
      ['Organizations', (content.organizationNames ?? []).join(', ')],
      ['Missing', Number(archive.missingObjects ?? 0) > 0 && formatCount(archive.missingObjects, 'object')],
      ['Damaged', Number(archive.damagedObjects ?? 0) > 0 && formatCount(archive.damagedObjects, 'object')],
    ].map(([name, text]) => [name, text || null])),
    table([
      { title: 'Content', cell: ([, title]) => title },
      { title: 'In the archive', isNumber: true, cell: ([name]) => value(content, name) },
      { title: 'Present', isNumber: true, cell: ([name]) => value(present, name) },
      { title: 'Present, not in the archive', isNumber: true, cell: ([name]) => value(lacking, name) },
    ], kinds, ''),
    loses && h('p', { class: 'warning' }, archive.isOfThisGateway
      ? 'Everything that the archive lacks is no longer listed then. Files of objects that it lacks go to quarantine.'
      : 'The archive is from another gateway. It replaces all data of this one.'),
    previousData && h('p', { class: 'warning' }, 'Delete the previous data of the last restore, or return to them, first.'),
    h('div', { class: 'actions' },
      !previousData && button('Restore…', () => applyArchive(archive, lastRestore), 'danger'),
      button('Discard archive', () => discard(archive, reload))))
}

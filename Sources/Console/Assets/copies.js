import { call, hasRole } from './api.js'
import { badge, breadcrumb, button, copyable, h, nameLink, nameText, pageHeader, propertyList, showNotice } from './dom.js'
import { showFormDialog } from './dialog.js'
import { enumLabel, formatBytes, formatCount, timeElement } from './format.js'
import { pagedTable } from './table.js'
import { repeatWhileVisible } from './wait.js'

/** Time between two updates of a running job, in milliseconds. */
const refreshInterval = 1000
const badgeKinds = { SUCCEEDED: 'good', FAILED: 'bad', PARTIAL_FAILED: 'bad', FAILED_TERMINAL: 'bad' }

function stateBadge(status, prefix) {
  const name = (status ?? '').replace(prefix, '')
  return badge(enumLabel(status, prefix), badgeKinds[name])
}

function isFinished(job) {
  return !['QUEUED', 'RUNNING', 'CANCELING'].includes(job.status.replace('COPY_JOB_STATUS_', ''))
}

function placeText({ endpoint, bucket }) {
  return bucket ? `${endpoint}/${bucket}` : endpoint
}

/** Shows the organization's copy jobs, newest first. */
export async function renderCopies(body) {
  body.replaceChildren(
    pageHeader('Copy jobs'),
    h('p', {}, 'Select objects on the page ', h('a', { href: '#/objects' }, 'Objects'), ' to copy them to a destination '
      + 'of the gateway’s configuration.'),
    pagedTable([
      { title: 'Started', cell: (job) => h('a', { href: `#/copies/${job.copyJobId}` }, timeElement(job.createdAtUnix, { isShort: true })) },
      { title: 'State', cell: (job) => stateBadge(job.status, 'COPY_JOB_STATUS_') },
      { title: 'Destination', cell: (job) => placeText(job.destination) },
      { title: 'Copied', isNumber: true, cell: (job) => `${job.completedItems ?? 0} of ${job.totalItems ?? 0}` },
      { title: 'Failed', isNumber: true, cell: (job) => String(job.failedItems ?? 0) },
      { title: 'Size', isNumber: true, cell: (job) => formatBytes(job.totalBytes) },
    ], async (pageToken) => {
      const { jobs = [], nextPageToken } = await call('copyManagement', 'ListCopyJobs', { pageSize: 50, pageToken })
      return { rows: jobs, next: nextPageToken }
    }, 'No copy jobs.'))
}

/** Shows one copy job with its objects, and updates it while it runs. */
export async function renderCopy(body, { id, signal }) {
  const facts = h('div', {})
  const items = h('div', {})
  const cancel = button('Cancel', () => cancelJob(id, update), 'danger')
  cancel.hidden = true
  let finished = false

  async function update(isBackground = false) {
    const { job } = await call('copies', 'GetCopyJob', { copyJobId: id }, { isBackground })
    if (signal.aborted) return
    const wasFinished = finished
    finished = isFinished(job)
    cancel.hidden = finished || !hasRole('operator')
    facts.replaceChildren(
      h('progress', { max: Math.max(1, Number(job.totalBytes ?? 0)), value: Number(job.copiedBytes ?? 0),
        'aria-label': 'Progress' }),
      propertyList([
        ['State', stateBadge(job.status, 'COPY_JOB_STATUS_')],
        ['Reason', job.terminalReason],
        ['Objects', `${job.completedItems ?? 0} of ${formatCount(job.totalItems, 'object')} copied, `
          + `${job.failedItems ?? 0} failed, ${job.skippedItems ?? 0} skipped`],
        ['Bytes', `${formatBytes(job.copiedBytes)} of ${formatBytes(job.totalBytes)}`],
        ['Destination', placeText(job.destination)],
        ['Key', copyable(job.destination.keyTemplate || '{file_id}')],
        ['Created', timeElement(job.createdAtUnix)],
        ['Started', timeElement(job.startedAtUnix)],
        ['Finished', timeElement(job.finishedAtUnix)],
        ['Job id', copyable(job.copyJobId)],
      ]))
    if (finished !== wasFinished || !items.firstChild) items.replaceChildren(itemTable(id, job.destination.keyTemplate))
  }

  body.replaceChildren(breadcrumb('Copy jobs', '#/copies', id), pageHeader('Copy job', cancel), facts,
    h('h2', {}, 'Objects'), items)
  await update()
  if (!finished) {
    repeatWhileVisible(refreshInterval, signal, async () => {
      // A cancellation updates the page, too.
      if (!finished) await update(true)
      return !finished
    })
  }
}

/** An object by its name, if the keys end with it, else by its id. */
function itemLink({ fileId, destinationObjectKey }, keyTemplate = '') {
  const name = /(^|\/)\{name\}$/.test(keyTemplate) && destinationObjectKey.split('/').pop()
  return name ? nameLink(name, `#/objects/${fileId}`) : h('a', { href: `#/objects/${fileId}` }, h('code', { class: 'id' }, fileId))
}

function itemTable(copyJobId, keyTemplate) {
  return pagedTable([
    { title: 'Object', cell: (item) => itemLink(item, keyTemplate) },
    { title: 'Key', cell: (item) => h('code', {}, nameText(item.destinationObjectKey)) },
    { title: 'State', cell: (item) => stateBadge(item.status, 'COPY_ITEM_STATUS_') },
    { title: 'Copied', isNumber: true, cell: (item) => `${formatBytes(item.copiedBytes)} of ${formatBytes(item.sourceSize)}` },
    { title: 'Error', cell: (item) => item.errorMessage || null },
  ], async (pageToken) => {
    const { items = [], nextPageToken } = await call('copies', 'ListCopyJobItems', { copyJobId, pageSize: 100, pageToken })
    return { rows: items, next: nextPageToken }
  }, 'The job has no objects.')
}

function cancelJob(copyJobId, update) {
  return showFormDialog({
    title: 'Cancel this copy job?', submit: 'Cancel the job', isDangerous: true,
    text: 'Objects that were copied stay at the destination.',
    fields: [{ name: 'reason', label: 'Reason', maxlength: 512 }],
    action: async ({ reason }) => {
      await call('copies', 'CancelCopyJob', { copyJobId, reason })
      showNotice('The copy job is being canceled.')
      await update()
    },
  })
}

import { call, createArchiveDownload, hasRole } from './api.js'
import { button, h, showNotice } from './dom.js'
import { showDialog, showFormDialog } from './dialog.js'
import { formatBytes, formatCount, parseTags, timeElement } from './format.js'
import { copyObjects } from './copy-dialog.js'
import { followOperation } from './object-operation.js'
import { withDates } from './time-zone.js'

/** Objects in one request that names each of them. */
const idLimit = 1000
/** Requests at the same time when an action needs one for each object. */
const parallelism = 4
const linkLifetimes = [['900', '15 minutes'], ['3600', '1 hour'], ['86400', '1 day'], ['604800', '7 days']]
/** A filter that every object matches, since a deletion needs one. */
const everyObject = 'size>=0'

/** The bar with the actions for the selected objects. */
export function bulkBar(source, selection, refresh) {
  const text = h('p', {})
  const element = h('div', { class: 'bulk', role: 'region', 'aria-label': 'Selected objects' }, text,
    h('div', { class: 'actions' },
      button('Download .zip', () => downloadArchive(selection, source)),
      button('Share', () => shareObjects(selection, source)),
      hasRole('operator') && button('Tag', () => tagObjects(selection, source)),
      hasRole('operator') && button('Copy to…', async () => copyObjects(await selectedIds(selection, source))),
      hasRole('admin') && button('Delete', () => deleteObjects(selection, source, refresh), 'danger'),
      button('Clear', () => selection.clear())))
  return {
    element,
    update() {
      element.hidden = selection.isEmpty
      text.textContent = selection.isAll
        ? `${source.isExact ? formatCount(source.total, 'object') : 'All objects of the list'} selected`
        : `${formatCount(selection.rows.size, 'object')} selected · ${formatBytes(selection.bytes)}`
    },
  }
}

/** Returns the ids of the selected objects, which a request can name. */
async function selectedIds(selection, source) {
  if (selection.isAll) await source.ensure(idLimit + 1)
  const rows = selection.isAll ? source.rows : [...selection.rows.values()]
  if (rows.length > idLimit) {
    throw new Error(`Select at most ${idLimit.toLocaleString('en')} objects for this action.`)
  }
  return rows.map((row) => row.fileId)
}

/** Starts the download of one archive with the selected objects. */
export async function downloadArchive(selection, source) {
  const path = await createArchiveDownload(selection.isAll
    ? { filter: selection.filter || everyObject, timeZone: source.zone } : { fileIds: [...selection.rows.keys()] })
  location.assign(path)
}

async function shareObjects(selection, source) {
  await shareFiles(await selectedIds(selection, source))
}

/** Asks for the lifetime of links to objects, and shows the links. */
export async function shareFiles(fileIds) {
  let shared
  await showFormDialog({
    title: `Share ${formatCount(fileIds.length, 'object')}`, submit: fileIds.length === 1 ? 'Create link' : 'Create links',
    text: 'Anyone who has a link can download the object until the link ends. Links end earlier if your user is '
      + 'deleted, if your password or role changes, or if the object is deleted permanently.',
    fields: [{ name: 'lifetimeSeconds', label: fileIds.length === 1 ? 'The link is valid for' : 'Links are valid for', type: 'select', options: linkLifetimes }],
    action: async (message) => { shared = await call('objects', 'RequestDownload', { fileIds, ...message }) },
  })
  if (!shared) return
  const links = shared.files.map((file) => file.read.uri).join('\n')
  const box = h('textarea', { readonly: true, rows: Math.min(10, shared.files.length * 3), class: 'secret',
    'aria-label': 'Links' }, links)
  await showDialog(shared.files.length === 1 ? 'Link' : 'Links',
    h('p', {}, 'Valid until ', timeElement(shared.expiresAtUnix), '.'), box,
    button('Copy', async () => {
      await navigator.clipboard.writeText(links)
      showNotice('Copied.')
    }))
}

async function tagObjects(selection, source) {
  const fileIds = await selectedIds(selection, source)
  return showFormDialog({
    title: `Tag ${formatCount(fileIds.length, 'object')}`, submit: 'Change tags',
    fields: [
      { name: 'tags', label: 'Tags to add or change', type: 'textarea', placeholder: 'weather=rain',
        hint: 'One tag per line, as KEY=VALUE.' },
      { name: 'removed', label: 'Keys to remove', hint: 'Separated by spaces.' },
    ],
    action: async ({ tags, removed }, progress) => {
      const message = { tags: parseTags(tags), removeTags: removed.split(/\s+/).filter(Boolean) }
      if (Object.keys(message.tags).length + message.removeTags.length === 0) throw new Error('Enter a tag or a key.')
      await forEach(fileIds, async (fileId) => {
        const { object } = await call('management', 'UpdateObject', { fileId, ...message })
        const row = source.rows.find((each) => each.fileId === fileId)
        if (row) row.tags = object.tags ?? {}
      }, progress)
      source.rows = source.rows.map((row) => (selection.has(row) ? { ...row } : row))
      source.onChange()
      source.loadFacets().catch(() => {})
      showNotice(`The tags of ${formatCount(fileIds.length, 'object')} were changed.`)
    },
  })
}

/** Calls `action` for each item, some at a time; stops at the first error and reports the number of items that are done. */
async function forEach(items, action, progress) {
  const queue = [...items]
  let done = 0
  const work = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      await action(item)
      done += 1
      progress(`${done.toLocaleString('en')} of ${items.length.toLocaleString('en')}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: parallelism }, work))
  } catch (error) {
    queue.length = 0
    throw new Error(done === 0 ? error.message : `${done} of ${items.length} done, then: ${error.message}`)
  }
}

async function deleteObjects(selection, source, refresh) {
  // The same days, also if midnight comes before the confirmation.
  const chosen = { filter: withDates(selection.filter, source.zone) || everyObject, timeZone: source.zone }
  const [{ days = 0 }, found] = await Promise.all([
    call('management', 'GetTrashSettings'),
    selection.isAll ? call('management', 'DeleteObjects', { ...chosen, dryRun: true })
      : { matchingObjects: selection.rows.size, matchingBytes: selection.bytes },
  ])
  const count = Number(found.matchingObjects ?? 0)
  if (count === 0) throw new Error('No objects match the filter.')
  const amount = `${found.isLowerBound ? 'At least ' : ''}${formatCount(count, 'object')}, `
    + `${formatBytes(found.matchingBytes)}.`
  await showFormDialog({
    title: `Delete ${formatCount(count, 'object')}?`, submit: 'Delete', isDangerous: true,
    text: `${amount} ` + (days === 0 ? 'They are deleted permanently.'
      : `They move to the trash and can be restored for ${formatCount(days, 'day')}, then they are deleted permanently.`),
    fields: [
      { name: 'typed', label: `Type ${count} to confirm`, inputmode: 'numeric', required: true, autocomplete: 'off' },
      { name: 'reason', label: 'Reason', required: true, maxlength: 512 },
    ],
    action: async ({ typed, reason }, progress) => {
      if (typed.trim() !== String(count)) throw new Error(`Type ${count} to confirm.`)
      if (selection.isAll) {
        const { operation } = await call('management', 'DeleteObjects', { ...chosen, reason })
        followOperation(operation).then(() => location.reload())
      } else {
        const deleted = new Set()
        try {
          await forEach([...selection.rows.keys()], async (fileId) => {
            await call('management', 'DeleteObject', { fileId, reason })
            deleted.add(fileId)
          }, progress)
        } finally {
          source.remove(deleted)
          for (const fileId of deleted) selection.rows.delete(fileId)
          selection.onChange()
        }
        showNotice(days === 0 ? `${formatCount(count, 'object')} deleted.`
          : `${formatCount(count, 'object')} moved to the trash.`)
        source.loadFacets().catch(() => {})
      }
      refresh()
    },
  })
}

import { call, createArchiveDownload, hasRole } from './api.js'
import { button, h, showNotice } from './dom.js'
import { showFormDialog, showSecret } from './dialog.js'
import { formatBytes, formatCount, parseTags, timeElement } from './format.js'
import { copyObjects } from './copy-dialog.js'
import { followOperation, operationEnd } from './object-operation.js'
import { hasSeveralOrganizations } from './organization-choice.js'
import { callInZone, withDates } from './time-zone.js'

/** Objects in one request that names each of them, and in one archive. */
const [idLimit, archiveLimit] = [1000, 10_000]
/** Folders in one filter, each of which has up to three terms, and the bytes of a filter. */
const [foldersOfAFilter, filterLimit] = [5, 4096]
/** Requests at the same time when an action needs one for each object. */
const parallelism = 4
const linkLifetimes = [['900', '15 minutes'], ['3600', '1 hour'], ['86400', '1 day'], ['604800', '7 days']]
/** A filter that every object matches, since a deletion needs one. */
const everyObject = 'size>=0'

/** The bar with the actions for the selected objects. */
export function bulkBar(source, selection, refresh) {
  const text = h('p', {})
  const remove = button('Delete', () => deleteObjects(selection, source, refresh), 'danger')
  const remark = h('small', {}, 'To delete all objects of the list, choose an organization in the header.')
  const element = h('div', { class: 'bulk', role: 'region', 'aria-label': 'Selected objects' }, text,
    h('div', { class: 'actions' },
      button('Download .zip', () => downloadArchive(selection, source)),
      button('Share', () => shareObjects(selection, source)),
      hasRole('operator') && button('Tag', () => tagObjects(selection, source)),
      hasRole('operator') && button('Copy to…', async () => copyObjects(await selectedIds(selection, source))),
      hasRole('admin') && [remark, remove],
      button('Clear', () => selection.clear())))
  return {
    element,
    update() {
      element.hidden = selection.isEmpty
      // A deletion by a filter is one of one organization, and the list has those of all.
      remove.hidden = selection.isAll && hasSeveralOrganizations()
      remark.hidden = !remove.hidden
      text.textContent = selection.isAll
        ? `${source.isExact ? formatCount(source.total, 'object') : 'All objects of the list'} selected`
        : `${selectedText(selection)} selected · ${formatBytes(selection.bytes)}`
    },
  }
}

/** The number of selected objects, and of the folders that have them: `13 objects in 1 folder`. */
function selectedText(selection) {
  const { folders } = selection
  const isLowerBound = folders.some(({ folder }) => folder.isLowerBound)
  const objects = `${isLowerBound ? 'At least ' : ''}${formatCount(selection.objects, 'object')}`
  if (folders.length === 0) return objects
  const others = selection.rows.size - folders.length
  return `${objects} (${formatCount(folders.length, 'folder')}${others > 0 ? `, ${formatCount(others, 'file')}` : ''})`
}

/**
 * Returns the selected objects, those of folders included, as `{fileId, organization}`: the organization is undefined for the selected
 * one. An error if there are more than `limit`.
 */
async function selectedObjects(selection, source, limit = idLimit) {
  const objects = []
  const add = (more) => {
    for (const { fileId, organization } of more) objects.push({ fileId, organization: organization || undefined })
    if (objects.length > limit) {
      throw new Error(`Select at most ${limit.toLocaleString('en')} objects for this action, files of folders included.`)
    }
  }
  if (selection.isAll) await addMatching(selection.filter, source, add)
  const rows = [...selection.rows.values()]
  add(rows.filter((row) => !row.folder))
  for (const { folder, organization } of selection.folders) {
    await addMatching(folder.filter, source, add, organization || undefined)
  }
  return objects
}

async function selectedIds(...selected) {
  return (await selectedObjects(...selected)).map(({ fileId }) => fileId)
}

/** Passes all objects that match a filter to `add`, page by page. `organization`: that of the objects, if it is not the selected one. */
async function addMatching(filter, { zone, withOrganizations }, add, organization) {
  let pageToken = ''
  do {
    const page = await callInZone({ zone }, 'objects', 'ListObjects', { filter, pageToken, pageSize: idLimit, withOrganizations }, { organization })
    add(page.objects ?? [])
    pageToken = page.nextPageToken ?? ''
  } while (pageToken)
}

/** Starts the download of one archive with the selected objects. */
export async function downloadArchive(selection, source) {
  location.assign(await createArchiveDownload(await archiveContents(selection, source)))
}

async function archiveContents(selection, source) {
  if (selection.isAll) return { filter: selection.filter || everyObject, timeZone: source.zone }
  const [folder] = selection.folders
  if (folder && selection.rows.size === 1) return { filter: folder.folder.filter }
  return { fileIds: await selectedIds(selection, source, archiveLimit) }
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
  await showSecret(shared.files.length === 1 ? 'Link' : 'Links', links,
    ['Valid until ', timeElement(shared.expiresAtUnix), '.'], { rows: Math.min(10, shared.files.length * 3) })
}

async function tagObjects(selection, source) {
  const objects = await selectedObjects(selection, source)
  return showFormDialog({
    title: `Tag ${formatCount(objects.length, 'object')}`, submit: 'Change tags',
    fields: [
      { name: 'tags', label: 'Tags to add or change', type: 'textarea', placeholder: 'weather=rain',
        hint: 'One tag per line, as KEY=VALUE.' },
      { name: 'removed', label: 'Keys to remove', hint: 'Separated by spaces.' },
    ],
    action: async ({ tags, removed }, progress) => {
      const message = { tags: parseTags(tags), removeTags: removed.split(/\s+/).filter(Boolean) }
      if (Object.keys(message.tags).length + message.removeTags.length === 0) throw new Error('Enter a tag or a key.')
      await forEach(objects, async ({ fileId, organization }) => {
        const { object } = await call('management', 'UpdateObject', { fileId, ...message }, { organization })
        const row = source.rows.find((each) => each.fileId === fileId)
        if (row) row.tags = object.tags ?? {}
      }, progress)
      source.rows = source.rows.map((row) => (selection.has(row) ? { ...row } : row))
      source.onChange()
      source.loadFacets().catch(() => {})
      showNotice(`The tags of ${formatCount(objects.length, 'object')} were changed.`)
    },
  })
}

/** Calls `action` for each item, some at a time; stops at the first error and reports the number of items that are done. */
export async function forEach(items, action, progress) {
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

/** Divides folders into groups with one filter each, `{filter, organization, rows}`; `organization` is undefined for the selected one. */
function filtersOf(folders) {
  const groups = []
  for (const row of folders) {
    const last = groups.at(-1)
    const joined = last && [...last.rows, row].map(({ folder }) => `(${folder.filter})`).join(' OR ')
    const organization = row.organization || undefined
    const fits = last && last.organization === organization && last.rows.length < foldersOfAFilter && new TextEncoder().encode(joined).length <= filterLimit
    if (fits) Object.assign(last, { filter: joined, rows: [...last.rows, row] })
    else groups.push({ filter: row.folder.filter, organization, rows: [row] })
  }
  return groups
}

/** Counts the objects of the selected rows, those of folders at the gateway. */
async function countRows(selection) {
  const files = [...selection.rows.values()].filter((row) => !row.folder)
  const found = {
    matchingObjects: files.length, matchingBytes: files.reduce((sum, row) => sum + row.size, 0), isLowerBound: false }
  for (const { filter, organization } of filtersOf(selection.folders)) {
    const more = await call('management', 'DeleteObjects', { filter, dryRun: true }, { organization })
    found.matchingObjects += Number(more.matchingObjects ?? 0)
    found.matchingBytes += Number(more.matchingBytes ?? 0)
    found.isLowerBound ||= more.isLowerBound ?? false
  }
  return found
}

async function deleteObjects(selection, source, refresh) {
  // The same days, also if midnight comes before the confirmation.
  const chosen = { filter: withDates(selection.filter, source.zone) || everyObject, timeZone: source.zone }
  const [{ days = 0 }, found] = await Promise.all([
    call('management', 'GetTrashSettings'),
    selection.isAll ? call('management', 'DeleteObjects', { ...chosen, dryRun: true }) : countRows(selection),
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
          for (const { filter, organization, rows } of filtersOf(selection.folders)) {
            const { operation } = await call('management', 'DeleteObjects', { filter, reason }, { organization })
            await operationEnd(operation, progress, organization)
            for (const row of rows) deleted.add(row.key)
          }
          await forEach([...selection.rows.values()].filter((row) => !row.folder), async ({ key, fileId, organization }) => {
            await call('management', 'DeleteObject', { fileId, reason }, { organization: organization || undefined })
            deleted.add(key)
          }, progress)
        } finally {
          source.remove(deleted)
          for (const key of deleted) selection.rows.delete(key)
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

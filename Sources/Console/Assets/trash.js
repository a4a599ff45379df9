import { actorElement } from './actor.js'
import { call } from './api.js'
import { deviceLink } from './device-names.js'
import { alertMessage, button, h, nameLink, pageHeader, showNotice } from './dom.js'
import { showFormDialog } from './dialog.js'
import { markedFilter } from './filter-outcome.js'
import { fileIcon } from './file-type.js'
import { formatBytes, formatCount, timeElement } from './format.js'
import { forEach } from './object-actions.js'
import { followOperation } from './object-operation.js'
import { forgetLists } from './objects.js'
import { go, hasSeveralOrganizations, inOrganization } from './organization-choice.js'
import { pagedTable } from './table.js'

/** A filter that every object matches, since an operation on many objects needs one. */
const everyObject = 'size>=0'

/** Shows the objects in the trash: of the filter in the address, with boxes to restore them or to delete them permanently. */
export async function renderTrash(body, { query, reload }) {
  const filter = query.get('filter') ?? ''
  const isOfAll = hasSeveralOrganizations()
  const [settings, found] = await Promise.all([call('management', 'GetTrashSettings'), isOfAll ? {} : matching(filter)])
  const selection = new Map()
  const bar = selectionBar(selection, reload)
  const canActOnAll = Number(found.matchingObjects ?? 0) > 0
  body.replaceChildren(...[
    pageHeader('Trash',
      canActOnAll && button(filter ? 'Restore all found' : 'Restore all', () => restoreAll(filter, found, reload)),
      canActOnAll && button(filter ? 'Delete all found permanently' : 'Empty the trash', () => purgeAll(filter, found, reload), 'danger')),
    h('p', {}, isOfAll ? 'This is the trash of all organizations. Choose one in the header to restore or delete all of its objects.'
      : daysText(settings)),
    searchForm(filter), foundText(filter, settings, found, isOfAll), bar.element,
    pagedTable(columns(selection, bar), (pageToken) => loadPage(filter, pageToken),
      filter ? 'No objects in the trash match the filter.' : 'The trash is empty.'),
  ].filter(Boolean))
}

function daysText({ days = 0 }) {
  return days === 0 ? 'This organization keeps no trash: deleted objects are removed at once.'
    : `Deleted objects stay here for ${formatCount(days, 'day')}, then they are deleted permanently. They count in quotas until then.`
}

/** The objects in the trash that match: their number and bytes, or an `error`. */
async function matching(filter) {
  try {
    return await call('management', 'RestoreObjects', { filter: filter || everyObject, dryRun: true })
  } catch (error) {
    return { error }
  }
}

async function loadPage(filter, pageToken) {
  const { objects = [], nextPageToken } = await call('objects', 'ListObjects', {
    pageSize: 50, pageToken, filter: filter ? `trashed=true (${filter})` : 'trashed=true', withOrganizations: true, withTrashing: true })
  return { rows: objects, next: nextPageToken }
}

function searchForm(filter) {
  const input = h('input', { id: 'filter', type: 'search', value: filter, spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off',
    placeholder: 'name:*run07* weather=rain', 'data-shortcut': 'search' })
  return h('form', { class: 'search', role: 'search', onsubmit: (event) => {
    event.preventDefault()
    const text = input.value.trim()
    go(`#/trash${text ? `?${new URLSearchParams({ filter: text })}` : ''}`)
  } }, h('label', { for: 'filter' }, 'Filter'), input, h('button', { type: 'submit', class: 'primary' }, 'Search'))
}

/** How much is in the trash, or what is wrong with the filter. */
function foundText(filter, { trashedObjects, trashedBytes }, { matchingObjects, matchingBytes, isLowerBound, error }, isOfAll) {
  if (isOfAll) return null
  if (error) return h('div', {}, alertMessage(error.message), markedFilter(filter, error.message))
  const all = `${formatCount(trashedObjects, 'object')}, ${formatBytes(trashedBytes)}`
  const found = `${isLowerBound ? 'At least ' : ''}${formatCount(matchingObjects, 'object')}, ${formatBytes(matchingBytes)}`
  return h('p', { class: 'hint', role: 'status' }, filter ? `${found} of ${all} in the trash.` : `${all} in the trash.`)
}

function columns(selection, bar) {
  return [
    { title: '', cell: (object) => h('input', { type: 'checkbox', 'aria-label': `Select ${object.name}`, 'data-select': true,
      onchange: ({ target }) => {
        if (target.checked) selection.set(object.fileId, object)
        else selection.delete(object.fileId)
        bar.update()
      } }) },
    { title: 'Name', cell: (object) => h('span', { class: 'named' }, fileIcon(object),
      nameLink(object.name, inOrganization(`#/objects/${object.fileId}`, object.organization || undefined))) },
    hasSeveralOrganizations() && { title: 'Organization', cell: (object) => object.organization || null },
    { title: 'Size', isNumber: true, cell: (object) => formatBytes(object.sizeBytes) },
    { title: 'Device', isMinor: true, cell: (object) => object.deviceId && deviceLink(object.deviceId, object.organization || undefined) },
    { title: 'Deleted', cell: (object) => timeElement(object.trashedAt, { isShort: true }) },
    { title: 'Actor', cell: ({ trashedBy, trashReason, organization }) => h('span', {}, actorElement(trashedBy, organization) ?? '–', trashReason && h('small', {}, trashReason)) },
    { title: 'Deleted permanently', cell: ({ purgeAt }) => timeElement(purgeAt, { isShort: true }) },
  ].filter(Boolean)
}

/** The bar with the actions for the selected objects. */
function selectionBar(selection, reload) {
  const text = h('p', {})
  const boxes = () => [...document.querySelectorAll('main input[data-select]')]
  const setAll = (isOn) => {
    for (const box of boxes()) if (box.checked !== isOn) box.click()
  }
  const rest = button('Select all rows', () => setAll(true))
  const clear = button('Clear', () => setAll(false))
  const actions = [
    button('Restore', () => restoreSelected([...selection.values()], reload), 'primary'),
    button('Delete permanently', () => purgeSelected([...selection.values()], reload), 'danger'), rest, clear]
  const element = h('div', { class: 'bulk', role: 'region', 'aria-label': 'Selected objects', hidden: true }, text,
    h('div', { class: 'actions' }, actions))
  return { element, update() {
    element.hidden = selection.size === 0
    const bytes = [...selection.values()].reduce((sum, { sizeBytes }) => sum + Number(sizeBytes ?? 0), 0)
    text.textContent = `${formatCount(selection.size, 'object')} selected · ${formatBytes(bytes)}`
    rest.hidden = selection.size === boxes().length
  } }
}

function restoreSelected(objects, reload) {
  return actOnEach({
    title: `Restore ${formatCount(objects.length, 'object')}?`, submit: 'Restore',
    text: 'They are listed again, with the tags that they had.',
  }, objects, 'RestoreObject', `${formatCount(objects.length, 'object')} restored.`, reload)
}

function purgeSelected(objects, reload) {
  return actOnEach({
    title: `Delete ${formatCount(objects.length, 'object')} permanently?`, submit: 'Delete permanently', isDangerous: true,
    text: 'They cannot be restored. The gateway keeps a record of who deleted them and why.', fields: [typedField(objects.length)],
  }, objects, 'PurgeObject', `${formatCount(objects.length, 'object')} deleted permanently.`, reload)
}

/** Asks, and calls the method for each object. */
function actOnEach(dialog, objects, method, notice, reload) {
  return showFormDialog({ ...dialog, action: async ({ typed }, progress) => {
    checkTyped(typed, objects.length)
    try {
      // In the trash of all organizations, each object is restored or deleted in its own.
      await forEach(objects, ({ fileId, organization }) => call('management', method, { fileId }, { organization }), progress)
    } finally {
      forgetLists()
    }
    showNotice(notice)
    await reload()
  } })
}

function restoreAll(filter, found, reload) {
  return showFormDialog({
    title: `Restore ${countText(found)}?`, submit: 'Restore', text: `${formatBytes(found.matchingBytes)} are listed again.`,
    action: async () => follow(await call('management', 'RestoreObjects', { filter: filter || everyObject }), reload),
  })
}

function purgeAll(filter, found, reload) {
  const count = Number(found.matchingObjects)
  return showFormDialog({
    title: `Delete ${countText(found)} permanently?`, submit: 'Delete permanently', isDangerous: true,
    text: `${formatBytes(found.matchingBytes)} cannot be restored. The gateway keeps a record of who deleted the objects and why.`,
    fields: [typedField(count)],
    action: async ({ typed }) => {
      checkTyped(typed, count)
      follow(await call('management', 'PurgeObjects', { filter: filter || everyObject }), reload)
    },
  })
}

/** Shows the progress of an operation, and then the trash again. */
function follow({ operation }, reload) {
  forgetLists()
  followOperation(operation).then(reload)
}

function countText({ matchingObjects, isLowerBound }) {
  return `${isLowerBound ? 'at least ' : ''}${formatCount(matchingObjects, 'object')}`
}

function typedField(count) {
  return { name: 'typed', label: `Type ${count} to confirm`, inputmode: 'numeric', required: true, autocomplete: 'off' }
}

function checkTyped(typed, count) {
  if (typed !== undefined && typed.trim() !== String(count)) throw new Error(`Type ${count} to confirm.`)
}

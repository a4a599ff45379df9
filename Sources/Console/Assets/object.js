import { actorElement } from './actor.js'
import { call, hasRole } from './api.js'
import { auditAddress } from './audit-filter.js'
import { alertMessage, badge, breadcrumb, button, copyable, h, pageHeader, propertyList, showNotice } from './dom.js'
import { deviceLink } from './device-names.js'
import { showFormDialog } from './dialog.js'
import { enumLabel, formatBytes, formatTags, parseTags, tagList, timeElement } from './format.js'
import { copyObjects } from './copy-dialog.js'
import { shareFiles } from './object-actions.js'
import { loadSiteNames, objectsAddress, siteName } from './object-facets.js'
import { fileNameTag } from './object-source.js'
import { moreMenu } from './more-menu.js'
import { forgetLists, neighborsOf } from './objects.js'
import { go, inOrganization, seesAllOrganizations } from './organization-choice.js'
import { openInViewer, isRecording } from './viewers.js'
import { previewSection } from './preview.js'

/** Shows one object: its state, origin, tags, times and a preview, with buttons for what can be done with it. */
export async function renderObject(body, { id, reload, signal }) {
  const [details, neighbors] = await Promise.all([
    call('management', 'GetObject', { fileId: id }), neighborsOf(id), loadSiteNames()])
  const { object, tags = {} } = details
  const deviceOrganization = seesAllOrganizations() ? details.organization : undefined
  const { [fileNameTag]: _, ...others } = tags
  const isCorrupted = object.status === 'DATA_OBJECT_STATUS_BAD'
  const isTrashed = Boolean(object.trashedAt)
  const isReadable = !isCorrupted && !isTrashed
  body.replaceChildren(
    h('div', { class: 'path' },
      breadcrumb(isTrashed ? 'Trash' : 'Objects', isTrashed ? '#/trash' : neighbors?.address ?? objectsAddress(''), object.name),
      !isTrashed && neighborLinks(neighbors)),
    pageHeader(object.name,
      isReadable && button('Download', () => downloadObject(id), 'primary'),
      isReadable && button('Share', () => shareFiles([id])),
      isReadable && isRecording(object) && button('Open in…', () => openInViewer(id)),
      isReadable && hasRole('operator') && button('Edit tags', () => editTags(id, others, reload)),
      isTrashed && hasRole('admin') && button('Restore', () => restoreObject(id, reload), 'primary'),
      isTrashed && hasRole('admin') && button('Delete permanently', () => purgeObject(id), 'danger'),
      moreMenu(isReadable && hasRole('operator') && button('Copy to…', () => copyObjects([id])),
        !isTrashed && hasRole('admin') && button('Delete', () => deleteObject(id), 'danger'))),
    h('div', { class: 'object' },
      isCorrupted && alertMessage('The stored bytes no longer match the checksum. Restore the file from a backup, or delete '
        + 'the object.'),
      isReadable && previewSection(object, signal),
      propertyList([
        ['In the trash since', timeElement(object.trashedAt)],
        ['Actor', actorElement(details.trashedBy, deviceOrganization)],
        ['Reason', details.trashReason],
        ['Deleted permanently', timeElement(details.purgeAt)],
        ['State', isCorrupted
          ? badge('corrupted', 'bad') : badge(enumLabel(object.status, 'DATA_OBJECT_STATUS_'), 'good')],
        ['Size', `${formatBytes(object.sizeBytes)} (${Number(object.sizeBytes ?? 0).toLocaleString('en')} bytes)`],
        ['Content type', object.contentType],
        ['Device', details.deviceId && deviceLink(details.deviceId, deviceOrganization)],
        ['Device id', copyable(details.deviceId)],
        ['Site', siteName(details.siteId)],
        ['Organization', details.organization],
        ['Tags', tagList(others)],
        ['Start of the recording', timeElement(object.recordedFrom)],
        ['End of the recording', timeElement(object.recordedTo)],
        ['Upload started', timeElement(object.createdAtUnix)],
        ['Bytes stored', timeElement(object.uploadedAtUnix)],
        ['Upload completed', timeElement(object.verifiedAtUnix)],
      ]),
      hasRole('admin') && h('p', {}, h('a', { href: auditAddress({ who: 'all', since: '', target: id }) }, 'Show in the audit log')),
      h('details', { class: 'identifiers' }, h('summary', {}, 'Ids and checksums'), propertyList([
        ['File id', copyable(object.fileId)],
        ['Upload id', copyable(details.uploadId)],
        ['Object id', copyable(object.objectId)],
        ['ETag', copyable(object.etag)],
        ['CRC-64', copyable(object.crc64Ecma)],
        ['Bucket and key', copyable(`${details.bucket}/${details.objectKey}`)],
      ]))))
}

/** Links to the objects before and after this one in its list; Back still returns to the list. */
function neighborLinks(neighbors) {
  if (!neighbors?.previous && !neighbors?.next) return null
  const link = (row, text) => row && h('a', { href: inOrganization(`#/objects/${row.fileId}`, row.organization || undefined), title: row.name, onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    location.replace(event.currentTarget.href)
  } }, text)
  return h('nav', { class: 'neighbors', 'aria-label': 'Other objects of the list' },
    link(neighbors.previous, 'Previous'), link(neighbors.next, 'Next'))
}

/** Downloads the object from the object store; the presigned URL reads this one object and is valid for 15 minutes. */
async function downloadObject(fileId) {
  const { files } = await call('objects', 'RequestDownload', { fileIds: [fileId] })
  h('a', { href: files[0].read.uri, download: files[0].name, rel: 'noreferrer' }).click()
}

function editTags(fileId, tags, reload) {
  return showFormDialog({
    title: 'Edit tags', submit: 'Save',
    fields: [{ name: 'tags', label: 'Tags', type: 'textarea', value: formatTags(tags), rows: 8,
      hint: 'One tag per line, as KEY=VALUE.' }],
    action: async ({ tags: text }) => {
      const wanted = parseTags(text)
      const removeTags = Object.keys(tags).filter((key) => !(key in wanted))
      await call('management', 'UpdateObject', { fileId, tags: wanted, removeTags })
      forgetLists()
      showNotice('The tags were saved.')
      await reload()
    },
  })
}

async function restoreObject(fileId, reload) {
  await call('management', 'RestoreObject', { fileId })
  forgetLists()
  showNotice('The object was restored.')
  await reload()
}

function purgeObject(fileId) {
  return showFormDialog({
    title: 'Delete this object permanently?',
    text: 'The object cannot be restored. URLs that were issued for it stop working. '
      + 'The gateway keeps a record of who deleted the object and why.',
    submit: 'Delete permanently',
    isDangerous: true,
    action: async () => {
      await call('management', 'PurgeObject', { fileId })
      showNotice('The object was deleted permanently.')
      go('#/trash')
    },
  })
}

async function deleteObject(fileId) {
  const { days = 0 } = await call('management', 'GetTrashSettings')
  return showFormDialog({
    title: 'Delete this object?',
    text: days === 0
      ? 'The object is deleted permanently. The gateway keeps a record of who deleted the object and why.'
      : `The object moves to the trash. It can be restored for ${days} ${days === 1 ? 'day' : 'days'}, `
        + 'then it is deleted permanently.',
    fields: [{ name: 'reason', label: 'Reason', required: true, maxlength: 512 }],
    submit: 'Delete',
    isDangerous: true,
    action: async ({ reason }) => {
      await call('management', 'DeleteObject', { fileId, reason })
      forgetLists()
      showNotice(days === 0 ? 'The object was deleted.' : 'The object was moved to the trash.')
      go('#/objects')
    },
  })
}

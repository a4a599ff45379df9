import { call, hasRole } from './api.js'
import { badge, button, h, pageHeader, propertyList, showNotice } from './dom.js'
import { deviceLink } from './devices.js'
import { showFormDialog } from './dialog.js'
import { enumLabel, formatBytes, tagList, timeElement } from './format.js'

/** The key of the tag in which clients send the source file's name. */
const fileNameTag = 'a206e337ecdf70a93bb611cf6a30c346.raw_file'

/** Shows one object: its state, origin, tags and times, with buttons to download, delete and restore it. */
export async function renderObject(body, { id, reload }) {
  const details = await call('management', 'GetObject', { fileId: id })
  const { object, tags = {} } = details
  const { [fileNameTag]: _, ...others } = tags
  const isCorrupted = object.status === 'DATA_OBJECT_STATUS_BAD'
  const isTrashed = Boolean(object.trashedAt)
  body.replaceChildren(
    pageHeader(object.name,
      !isCorrupted && !isTrashed && button('Download', () => downloadObject(id), 'primary'),
      isTrashed && hasRole('admin') && button('Restore', () => restoreObject(id, reload), 'primary'),
      isTrashed && hasRole('admin') && button('Delete permanently', () => purgeObject(id), 'danger'),
      !isTrashed && hasRole('admin') && button('Delete', () => deleteObject(id), 'danger')),
    propertyList([
      ['In the trash since', timeElement(object.trashedAt)],
      ['Actor', details.trashedBy],
      ['Reason', details.trashReason],
      ['Deleted permanently', timeElement(details.purgeAt)],
      ['State', isCorrupted
        ? badge('corrupted', 'bad') : badge(enumLabel(object.status, 'DATA_OBJECT_STATUS_'), 'good')],
      ['File id', h('code', {}, object.fileId)],
      ['Size', `${formatBytes(object.sizeBytes)} (${Number(object.sizeBytes ?? 0).toLocaleString('en')} bytes)`],
      ['Content type', object.contentType],
      ['ETag', h('code', {}, object.etag)],
      ['Device', details.deviceId && deviceLink(details.deviceId)],
      ['Site id', details.siteId],
      ['Organization', details.organization],
      ['Tags', tagList(others)],
      ['Upload started', timeElement(object.createdAtUnix)],
      ['Bytes stored', timeElement(object.uploadedAtUnix)],
      ['Upload completed', timeElement(object.verifiedAtUnix)],
      ['Upload id', h('code', {}, details.uploadId)],
      ['Object id', h('code', {}, object.objectId)],
      ['Bucket and key', h('code', {}, `${details.bucket}/${details.objectKey}`)],
    ]))
}

/** Downloads the object from the object store; the presigned URL reads this one object and is valid for 15 minutes. */
async function downloadObject(fileId) {
  const { files } = await call('objects', 'RequestDownload', { fileIds: [fileId] })
  h('a', { href: files[0].read.uri, download: files[0].name, rel: 'noreferrer' }).click()
}

async function restoreObject(fileId, reload) {
  await call('management', 'RestoreObject', { fileId })
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
      location.hash = '#/trash'
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
      showNotice(days === 0 ? 'The object was deleted.' : 'The object was moved to the trash.')
      location.hash = '#/objects'
    },
  })
}

import { call, hasRole } from './api.js'
import { badge, button, h, pageHeader, propertyList, showNotice } from './dom.js'
import { deviceLink } from './devices.js'
import { showFormDialog } from './dialog.js'
import { enumLabel, formatBytes, tagList, timeElement } from './format.js'

/** The key of the tag in which clients send the source file's name. */
const fileNameTag = 'a206e337ecdf70a93bb611cf6a30c346.raw_file'

/** Shows one object: its state, origin, tags and times, with buttons to download and delete it. */
export async function renderObject(body, { id }) {
  const details = await call('management', 'GetObject', { fileId: id })
  const { object, tags = {} } = details
  const { [fileNameTag]: _, ...others } = tags
  const isCorrupted = object.status === 'DATA_OBJECT_STATUS_BAD'
  body.replaceChildren(
    pageHeader(object.name, !isCorrupted && button('Download', () => downloadObject(id), 'primary'),
      hasRole('admin') && button('Delete', () => deleteObject(id), 'danger')),
    propertyList([
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

function deleteObject(fileId) {
  return showFormDialog({
    title: 'Delete this object?',
    text: 'The object’s bytes are deleted permanently. The gateway keeps a record of who deleted the object and why.',
    fields: [{ name: 'reason', label: 'Reason', required: true, maxlength: 512 }],
    submit: 'Delete',
    isDangerous: true,
    action: async ({ reason }) => {
      await call('management', 'DeleteObject', { fileId, reason })
      showNotice('The object was deleted.')
      location.hash = '#/objects'
    },
  })
}

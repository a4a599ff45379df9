import { call, hasRole } from './api.js'
import { badge, button, h, pageHeader, propertyList, showNotice } from './dom.js'
import { deviceLink } from './devices.js'
import { showFormDialog } from './dialog.js'
import { enumLabel, formatBytes, tagList, timeElement } from './format.js'

/** The key under which clients send the source file's name. */
const fileNameTag = 'a206e337ecdf70a93bb611cf6a30c346.raw_file'

/** One object: what it is, where it came from, its bytes. */
export async function renderObject(body, { id }) {
  const details = await call('management', 'GetObject', { fileId: id })
  const { object, tags = {} } = details
  const { [fileNameTag]: fileName, ...others } = tags
  const isBad = object.status === 'DATA_OBJECT_STATUS_BAD'
  body.replaceChildren(
    pageHeader(fileName || 'Object', !isBad && button('Download', () => downloadObject(id), 'primary'),
      hasRole('admin') && button('Delete', () => deleteObject(id), 'danger')),
    propertyList([
      ['State', badge(enumLabel(object.status, 'DATA_OBJECT_STATUS_'), isBad ? 'bad' : 'good')],
      ['File id', h('code', {}, object.fileId)],
      ['Size', `${formatBytes(object.sizeBytes)} (${Number(object.sizeBytes ?? 0).toLocaleString('en')} bytes)`],
      ['ETag', h('code', {}, object.etag)],
      ['Device', details.deviceId && deviceLink(details.deviceId)],
      ['Site', details.siteId],
      ['Organization', details.organization],
      ['Tags', tagList(others)],
      ['Upload begun', timeElement(object.createdAtUnix)],
      ['Uploaded', timeElement(object.uploadedAtUnix)],
      ['Verified', timeElement(object.verifiedAtUnix)],
      ['Upload', h('code', {}, details.uploadId)],
      ['Object id', h('code', {}, object.objectId)],
      ['Key in the store', h('code', {}, `${details.bucket}/${details.objectKey}`)],
    ]))
}

/** The browser fetches it from the object store, by an address that reads this one object for 15 minutes. */
async function downloadObject(fileId) {
  const { files } = await call('objects', 'RequestDownload', { fileIds: [fileId] })
  h('a', { href: files[0].read.uri, download: fileId, rel: 'noreferrer' }).click()
}

function deleteObject(fileId) {
  return showFormDialog({
    title: 'Delete this object?',
    text: 'Its bytes are gone for good. Who deleted it, and why, is kept.',
    fields: [{ name: 'reason', label: 'Reason', required: true, maxlength: 512 }],
    submit: 'Delete',
    isDangerous: true,
    action: async ({ reason }) => {
      await call('management', 'DeleteObject', { fileId, reason })
      showNotice('The object is deleted.')
      location.hash = '#/objects'
    },
  })
}

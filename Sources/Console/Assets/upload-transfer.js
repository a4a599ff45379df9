import { call, CallError, sendBytes } from './api.js'
import { retried } from './retry.js'

/**
 * Uploads a file, or continues its upload; resolves to the id of the object.
 *
 * `upload`: `{file, key, siteId, tags, organization, uploadId}`. `uploadId` is set when the upload has begun, and
 * `onBegun()` is called then. `onProgress(bytes)`: the number of bytes that are stored or sent. `onWait`: see `retried`.
 */
export async function transfer(upload, { signal, onBegun, onProgress, onWait }) {
  const context = { ...upload, signal, onProgress, onWait }
  let state = upload.uploadId ? await storedState(context) : null
  if (!state) {
    state = await begin(context)
    upload.uploadId = state.uploadId
    onBegun()
  }
  context.uploadId = state.uploadId
  if (state.status === 'LOGICAL_UPLOAD_STATUS_COMPLETED') return state.fileId ?? ''
  const object = state.ossObjectEtag
    ? { etag: state.ossObjectEtag, parts: state.completedPartCount ?? 0 } : await store(context, state)
  const { fileId } = await repeated(context, () => callFor(context, 'CompleteSiteUpload', {
    uploadId: state.uploadId, fileSizeBytes: upload.file.size, ossObjectEtag: object.etag,
    completedPartCount: object.parts, rawTags: upload.tags,
  }))
  return fileId ?? ''
}

function repeated({ signal, onWait }, action) {
  return retried(signal, action, { isPatient: true, onWait })
}

function callFor({ organization }, method, message) {
  return call('uploads', method, message, { organization })
}

/** The path of a file in its folder; empty without a folder, and for a path that the gateway does not accept. */
function relativePath({ folder, file }) {
  if (!folder) return ''
  const names = [...folder.split('/'), file.name]
  const bytes = (text) => new TextEncoder().encode(text).length
  const path = names.join('/')
  const isValid = names.length <= 32 && bytes(path) <= 1024 && !/\p{Cc}/u.test(path)
    && names.every((name) => name !== '.' && name !== '..' && bytes(name) >= 1 && bytes(name) <= 255)
  return isValid ? path : ''
}

async function begin(context) {
  const { uploadId, credentials } = await repeated(context, () => callFor(context, 'CreateSiteUpload', {
    siteId: context.siteId, fileName: context.file.name, fileSizeBytes: context.file.size, idempotencyKey: context.key,
    relativePath: relativePath(context),
  }))
  return { uploadId, partSizeBytes: credentials.partSizeBytes }
}

/** What is stored of an upload that was begun before; `null` if it has to start again. */
async function storedState(context) {
  try {
    const state = await repeated(context, () => callFor(context, 'GetSiteUpload', { uploadId: context.uploadId }))
    if (state.status === 'LOGICAL_UPLOAD_STATUS_TERMINAL') throw new CallError(404, {})
    return state
  } catch (error) {
    if (error.status !== 404) throw error
    // The key stands for the upload that has ended.
    context.key = crypto.randomUUID()
    return null
  }
}

/** Stores the file's bytes that are not stored yet; returns the ETag and the number of parts. */
async function store(context, { uploadId, partSizeBytes, multipartUploadId = '', parts = [] }) {
  const { file, onProgress } = context
  const partSize = Number(partSizeBytes)
  if (file.size <= partSize && !multipartUploadId) {
    const { etag } = await send(context, 'PUT', `uploads/${uploadId}`, file, onProgress)
    return { etag, parts: 0 }
  }
  const id = multipartUploadId || (await send(context, 'POST', `uploads/${uploadId}/parts`)).multipartId
  const stored = new Map(parts.map((part) => [part.number, Number(part.sizeBytes)]))
  const count = Math.ceil(file.size / partSize)
  let done = 0
  for (let number = 1; number <= count; number += 1) {
    const piece = file.slice((number - 1) * partSize, number * partSize)
    if (stored.get(number) !== piece.size) {
      await send(context, 'PUT', `uploads/${uploadId}/parts/${number}?multipart=${id}`, piece,
        (sent) => onProgress(done + Math.min(sent, piece.size)))
    }
    done += piece.size
    onProgress(done)
  }
  const { etag } = await send(context, 'POST', `uploads/${uploadId}/complete?multipart=${id}`)
  return { etag, parts: count }
}

function send(context, method, path, blob = null, onProgress = undefined) {
  const { organization, signal } = context
  return repeated(context, () => sendBytes(method, path, blob, { organization, signal, onProgress }))
}

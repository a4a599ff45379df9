import { selectedOrganization, session } from './api.js'

/** The key of the uploads that this browser has begun, so that they can continue after a reload. */
const recordsKey = 'console-uploads'
const recordLimit = 2000

function read() {
  try {
    return JSON.parse(localStorage.getItem(recordsKey)) ?? []
  } catch {
    return []
  }
}

function write(records) {
  try {
    localStorage.setItem(recordsKey, JSON.stringify(records.slice(-recordLimit)))
  } catch {
    // Without room in the browser's storage, uploads cannot continue after a reload.
  }
}

/** The user and the organization of uploads that are begun now. */
export function currentOwner() {
  const { organization, userName } = session.user
  return { user: `${organization}/${userName}`, organization: selectedOrganization() }
}

function isOwn(record) {
  const { user, organization } = currentOwner()
  return record.user === user && record.organization === organization
}

/** The current user's uploads that were begun and not completed: `{key, name, folder, size, modified, siteId, tags, uploadId}`. */
export function interruptedUploads() {
  return read().filter((record) => isOwn(record) && !record.isDone)
}

/** The record of the same file in an unfinished batch; `undefined` if there is none. */
export function recordOf({ file, folder }) {
  return read().find((record) => isOwn(record) && record.name === file.name && record.folder === folder
    && record.size === file.size && record.modified === file.lastModified)
}

/** Stores the record of an upload, instead of an earlier one with its key. */
export function keepRecord(record) {
  write([...read().filter((each) => each.key !== record.key), record])
}

export function dropRecord(key) {
  write(read().filter((each) => each.key !== key))
}

/** Forgets completed uploads, after which the same files can be uploaded again. */
export function dropDoneRecords() {
  write(read().filter((each) => !each.isDone))
}

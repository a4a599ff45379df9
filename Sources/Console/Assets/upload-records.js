import { selectedOrganization, session } from './api.js'

/** The key of the uploads that this browser has begun, so that they can continue after a reload. */
const recordsKey = 'console-uploads'
const recordLimit = 2000

/** The records as this tab last read or wrote them; `null` after another tab changed them. */
let known = null

addEventListener('storage', ({ key }) => {
  if (key === recordsKey || key === null) known = null
})

function read() {
  try {
    known ??= JSON.parse(localStorage.getItem(recordsKey)) ?? []
  } catch {
    known = []
  }
  return known
}

function write(records) {
  known = records.slice(-recordLimit)
  try {
    localStorage.setItem(recordsKey, JSON.stringify(known))
  } catch {
    // Without space in the browser's storage, uploads cannot continue after a reload.
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

/**
 * The current user's uploads that were begun and not completed, and that no tab sends:
 * `{key, name, folder, size, modified, siteId, tags, uploadId}`.
 */
export async function interruptedUploads() {
  const { held } = await navigator.locks.query()
  const sent = new Set(held.map(({ name }) => name))
  return read().filter((record) => isOwn(record) && !record.isDone && !sent.has(lockName(record)))
}

function lockName({ key }) {
  return `console-upload-${key}`
}

/** Runs `action` while no other tab sends the same upload. */
export function whileSending(upload, action) {
  return navigator.locks.request(lockName(upload), action)
}

/** The record of the same file in an unfinished batch; `undefined` if no batch has the file. */
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

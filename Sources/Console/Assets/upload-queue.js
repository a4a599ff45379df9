import { currentOwner, dropDoneRecords, dropRecord, keepRecord, recordOf, whileSending } from './upload-records.js'
import { call } from './api.js'
import { fileNameTag } from './object-source.js'
import { transfer } from './upload-transfer.js'

/** Files that are sent at the same time. */
const parallel = 3
/** Time between two updates of what waits, in milliseconds. */
const waitInterval = 1000
/** Time over which the rate is measured, in milliseconds. */
const rateWindow = 5000

/**
 * The uploads of this page, `{key, file, name, folder, size, siteId, tags, state, sent, error, fileId}`, in the order of
 * their choice. `state` is `waiting`, `sending`, `done`, `failed` or `skipped`: it was completed before the page was reloaded. `pause`,
 * `{reason, until, end}`, is set while the upload waits for its next attempt.
 */
class UploadQueue {
  constructor() {
    this.uploads = []
    this.listeners = new Set()
    this.samples = []
    addEventListener('beforeunload', (event) => {
      if (this.isActive) event.preventDefault()
    })
  }

  get isActive() {
    return this.uploads.some(({ state }) => state === 'waiting' || state === 'sending')
  }

  /** Whether all uploads wait that are begun. */
  get isPaused() {
    const begun = this.uploads.filter(({ state }) => state === 'sending')
    return begun.length > 0 && begun.every(({ pause }) => pause)
  }

  /** The sums over all uploads: files, finished files, bytes, and sent bytes. */
  get totals() {
    const sum = (member) => this.uploads.reduce((total, upload) => total + upload[member], 0)
    const isFinished = ({ state }) => state === 'done' || state === 'skipped'
    return { files: this.uploads.length, finished: this.uploads.filter(isFinished).length,
      failed: this.uploads.filter(({ state }) => state === 'failed').length, bytes: sum('size'), sent: sum('sent') }
  }

  /** The current rate in bytes a second; 0 if it is not known yet, or nothing is sent. */
  get rate() {
    if (this.isPaused) return 0
    const [first, last] = [this.samples[0], this.samples.at(-1)]
    const milliseconds = first ? last.time - first.time : 0
    return milliseconds > 500 ? Math.max(0, (last.sent - first.sent) * 1000 / milliseconds) : 0
  }

  /** Calls `action` after changes, at most once a frame, until `signal` is aborted. */
  onChange(action, signal) {
    this.listeners.add(action)
    signal?.addEventListener('abort', () => this.listeners.delete(action), { once: true })
  }

  changed() {
    if (this.isScheduled) return
    this.isScheduled = true
    // A timer, because frames stop in a hidden tab.
    setTimeout(() => {
      this.isScheduled = false
      const time = performance.now()
      this.samples.push({ time, sent: this.totals.sent })
      while (time - this.samples[0].time > rateWindow) this.samples.shift()
      for (const action of this.listeners) action()
    }, 100)
  }

  /** Adds files, `[{file, folder}]`; a file that was begun before continues. */
  add(files, { siteId, tags }) {
    if (!this.isActive) this.samples = []
    for (const { file, folder } of files) {
      const known = recordOf({ file, folder })
      const ownTags = { ...tags, ...(folder && { folder }), [fileNameTag]: file.name }
      const fresh = { key: crypto.randomUUID(), siteId, tags: ownTags, ...currentOwner() }
      const upload = {
        ...fresh, ...known, file, name: file.name, folder, size: file.size, modified: file.lastModified,
        sent: known?.isDone ? file.size : 0, state: known?.isDone ? 'skipped' : 'waiting', error: '',
        controller: new AbortController(),
      }
      if (!this.uploads.some((each) => each.key === upload.key && each.state !== 'failed')) this.uploads.push(upload)
    }
    this.changed()
    this.run()
  }

  run() {
    const sending = this.uploads.filter(({ state }) => state === 'sending').length
    const waiting = this.uploads.filter(({ state }) => state === 'waiting').slice(0, parallel - sending)
    for (const upload of waiting) this.send(upload)
    if (!this.isActive && this.totals.failed === 0) dropDoneRecords()
  }

  async send(upload) {
    upload.state = 'sending'
    this.keep(upload)
    try {
      upload.fileId = await whileSending(upload, () => transfer(upload, {
        signal: upload.controller.signal,
        onBegun: () => this.keep(upload),
        onWait: (pause) => this.pause(upload, pause),
        onProgress: (bytes) => {
          upload.sent = bytes
          this.changed()
        },
      }))
      Object.assign(upload, { state: 'done', sent: upload.size })
      this.keep(upload)
    } catch (error) {
      // The upload of a removed file is not one that failed.
      if (upload.controller.signal.aborted) return
      Object.assign(upload, { state: 'failed', error: error.message })
    } finally {
      if (upload.pause) this.pause(upload, null)
      this.changed()
      this.run()
    }
  }

  /** Notes what an upload waits for, or that it is sent again. */
  pause(upload, pause) {
    upload.pause = pause
    // The rate before the pause is not that after it.
    if (!pause) this.samples = []
    this.changed()
    clearInterval(this.timer)
    if (this.uploads.some((each) => each.pause)) this.timer = setInterval(() => this.changed(), waitInterval)
  }

  /** Ends all pauses. */
  tryNow() {
    for (const { pause } of this.uploads) pause?.end()
  }

  keep({ key, name, folder, size, modified, siteId, tags, user, organization, uploadId, state, fileId }) {
    keepRecord({ key, name, folder, size, modified, siteId, tags, user, organization, uploadId, fileId,
      isDone: state === 'done' })
  }

  retry(upload) {
    Object.assign(upload, { state: 'waiting', error: '' })
    this.changed()
    this.run()
  }

  /** Removes an upload; what was stored of it is removed at the gateway too. */
  async cancel(upload) {
    upload.controller.abort(new Error('The upload was canceled.'))
    this.uploads = this.uploads.filter((each) => each !== upload)
    dropRecord(upload.key)
    this.changed()
    this.run()
    await discard(upload)
  }

  /** Removes what has ended from the list. */
  clear() {
    this.uploads = this.uploads.filter(({ state }) => state === 'waiting' || state === 'sending')
    dropDoneRecords()
    this.changed()
  }

  /** Stops all uploads, because the session has ended; they can continue after another sign-in. */
  stop() {
    for (const { controller } of this.uploads) controller.abort(new Error('The session has ended.'))
    this.uploads = []
    this.changed()
  }
}

/** Removes what is stored of an unfinished upload. */
export async function discard({ uploadId, organization }) {
  if (!uploadId) return
  try {
    await call('uploads', 'CancelUpload', { logicalUploadId: uploadId, reason: 'canceled in the browser' }, { organization })
  } catch (error) {
    // A completed or forgotten upload has nothing left to remove.
    if (error.status !== 404 && error.status !== 400) throw error
  }
}

export const uploadQueue = new UploadQueue()

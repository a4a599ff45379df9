import { call, CallError, sendBytes } from './api.js'
import { retried } from './retry.js'

/** The key of the archive that this browser uploads, so that its upload can continue after a reload. */
const recordKey = 'console-archive'

function request(method, message = {}) {
  return call('restore', method, message, { organization: '', isQuiet: true })
}

/** The file `{stagingId, name, size, modified}` from which this browser uploads an archive of the gateway; otherwise `null`. */
export function ownFile(archive) {
  try {
    const known = JSON.parse(localStorage.getItem(recordKey))
    return archive && known?.stagingId === archive.stagingId ? known : null
  } catch {
    return null
  }
}

function keepRecord(stagingId, { name, size, lastModified }) {
  try {
    localStorage.setItem(recordKey, JSON.stringify({ stagingId, name, size, modified: lastModified }))
  } catch {
    // Without space in the browser's storage, the upload cannot continue after a reload.
  }
}

/** Removes an archive from the gateway, if it is still there. */
export async function discardArchive(stagingId) {
  try {
    await request('DiscardArchive', { stagingId })
  } catch (error) {
    if (error.status !== 404) throw error
  }
}

/** The upload of an archive, which the gateway checks on the way. */
export class ArchiveUpload {
  #file
  #passphrase
  #stagingId = null

  constructor(file, passphrase) {
    this.#file = file
    this.#passphrase = passphrase
  }

  /**
   * Sends the archive; an upload of the same file continues, and so does this one when the connection is lost.
   *
   * `onProgress(sent, size)`, `onLost()`; `confirmReplacement(state)` resolves to whether the archive may take the place of another one.
   * Returns whether the archive was sent.
   */
  async send({ signal, onProgress, onLost, confirmReplacement }) {
    const file = this.#file
    let isBegun = !await this.#begin(signal, confirmReplacement)
    if (!this.#stagingId) return false
    let [offset, furthest] = [0, 0]
    await retried(signal, async () => {
      if (isBegun) offset = await this.#arrivedBytes()
      isBegun = true
      if (offset === null) return
      onProgress(offset, file.size)
      await sendBytes('PUT', this.#path(offset), file.slice(offset), {
        signal, onProgress: (sent) => onProgress(Math.min(offset + sent, file.size), file.size) })
    }, { onRetry: () => {
      onLost()
      const hasProgressed = offset > furthest
      furthest = Math.max(furthest, offset)
      return hasProgressed
    } })
    localStorage.removeItem(recordKey)
    return true
  }

  /** Finds this file's upload, or begins a new one; returns whether it is new. */
  async #begin(signal, confirmReplacement) {
    const file = this.#file
    const state = await request('GetRestore')
    const known = ownFile(state.arriving) ?? ownFile(state.archive)
    if (known && known.name === file.name && known.size === file.size && known.modified === file.lastModified) {
      this.#stagingId = known.stagingId
      return false
    }
    signal.throwIfAborted()
    if (!known && (state.archive || state.arriving) && !await confirmReplacement(state)) return false
    signal.throwIfAborted()
    // The gateway removes others by itself, unless their bytes arrive now.
    if (state.arriving) await discardArchive(state.arriving.stagingId)
    this.#stagingId = (await request('StageArchive', { passphrase: this.#passphrase })).stagingId
    keepRecord(this.#stagingId, file)
    return true
  }

  #path(offset) {
    return `restore/archives/${this.#stagingId}?offset=${offset}`
  }

  /** The number of bytes that the gateway has; `null` if the archive is complete. */
  async #arrivedBytes() {
    const { archive, arriving } = await request('GetRestore')
    if (archive?.stagingId === this.#stagingId) return null
    if (arriving?.stagingId !== this.#stagingId) return this.#askForReason()
    if (!arriving.isInterrupted) {
      throw new CallError(0, { message: 'The gateway still works on what arrived before the connection was lost. Try again later.' })
    }
    return Number(arriving.receivedBytes ?? 0)
  }

  /** Rejects with the reason why the gateway takes no more bytes: that response may have been lost with the connection. */
  async #askForReason() {
    try {
      await sendBytes('PUT', this.#path(0), new Blob([]))
    } catch (error) {
      if (error.status !== 404) throw error
    }
    throw new Error('The upload was discarded or replaced, or the gateway was restarted. Upload the archive again.')
  }

  /** Removes what the gateway has of the archive. */
  async discard() {
    if (!this.#stagingId) return
    await discardArchive(this.#stagingId)
    localStorage.removeItem(recordKey)
  }
}

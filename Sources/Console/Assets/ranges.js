import { CallError, createContentAccess } from './api.js'

/** The bytes of an object, read in ranges. */
export class ObjectBytes {
  /** - Parameter size: the object's size in bytes, as the gateway lists it. */
  constructor(fileId, size) {
    this.fileId = fileId
    this.size = size
  }

  /** The address for elements such as `img` and `video`. */
  async address() {
    this.path ??= await createContentAccess(this.fileId)
    return this.path
  }

  /** Returns the bytes from `start` to before `end`, within the object. */
  async read(start, end, signal) {
    const last = Math.min(end, this.size)
    if (start >= last) return new Uint8Array()
    let response = await this.fetchRange(start, last, signal)
    if (response.status === 404) {
      // The address has expired.
      this.path = undefined
      response = await this.fetchRange(start, last, signal)
    }
    if (!response.ok) throw new CallError(response.status, await response.json().catch(() => ({})))
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (bytes.length !== last - start) throw new Error('The object store sent another range than requested.')
    return bytes
  }

  async fetchRange(start, end, signal) {
    return fetch(await this.address(), { headers: { Range: `bytes=${start}-${end - 1}` }, signal })
  }
}

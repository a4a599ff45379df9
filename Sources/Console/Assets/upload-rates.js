import { formatBytes } from './format.js'

/** Updates over which a rate is measured. */
const sampleLimit = 5

/** The rates of uploads, over the last updates of the page. */
export class UploadRates {
  constructor() {
    this.samples = new Map()
    this.changes = new Map()
  }

  /** Adds a sample of each upload. */
  update(uploads) {
    const now = performance.now()
    const [samples, changes] = [new Map(), new Map()]
    for (const { uploadId, storedBytes } of uploads) {
      const sample = { now, stored: Number(storedBytes ?? 0) }
      const before = this.samples.get(uploadId) ?? []
      samples.set(uploadId, [...before, sample].slice(-sampleLimit))
      const hasChanged = before.at(-1)?.stored !== sample.stored
      changes.set(uploadId, hasChanged ? now : this.changes.get(uploadId) ?? now)
    }
    this.samples = samples
    this.changes = changes
  }

  bytesPerSecond(uploadId) {
    const samples = this.samples.get(uploadId) ?? []
    const [first, last] = [samples[0], samples.at(-1)]
    return last && last.stored > first.stored ? ((last.stored - first.stored) * 1000) / (last.now - first.now) : 0
  }

  /** The rate, such as `12 MiB/s`; `null` if no byte has arrived. */
  text(uploadId) {
    const rate = this.bytesPerSecond(uploadId)
    return rate > 0 ? `${formatBytes(rate)}/s` : null
  }

  /** The time since the last byte arrived while the page was shown. */
  stalledSeconds(uploadId) {
    return (performance.now() - (this.changes.get(uploadId) ?? performance.now())) / 1000
  }
}

import { call } from './api.js'
import { deviceLink } from './devices.js'
import { alertMessage, badge, h, pageHeader } from './dom.js'
import { formatBytes, formatCount, timeElement } from './format.js'
import { table, updateTable } from './table.js'

/** Time between two updates of the page, in milliseconds. */
const refreshInterval = 1000

/** Shows the uploads in progress and updates them every second. */
export async function renderUploads(body, { signal }) {
  const list = h('div', {}, h('p', { class: 'empty' }, 'Loading…'))
  const hint = h('p', { class: 'hint', hidden: true }, 'Only the 100 uploads that started last are shown.')
  const rates = new Rates()
  body.replaceChildren(pageHeader('Uploads in progress'), list, hint)

  while (!signal.aborted) {
    if (!document.hidden) {
      try {
        const { uploads = [], nextPageToken } = await call(
          'uploads', 'ListUploads', { pageSize: 100 }, { isBackground: true })
        if (signal.aborted) return
        updateTable(list, table(columns(rates.update(uploads)), uploads, 'No uploads in progress.'))
        hint.hidden = !nextPageToken
      } catch (error) {
        if (signal.aborted || error.status === 401) return
        list.replaceChildren(alertMessage(error.message))
      }
    }
    await wait(refreshInterval, signal)
  }
}

function columns(rates) {
  return [
    { title: 'Name', cell: (upload) => upload.fileName || 'not known yet' },
    { title: 'Upload id', cell: (upload) => h('code', {}, upload.uploadId) },
    { title: 'Source', cell: ({ deviceId, siteId }) => (deviceId ? deviceLink(deviceId) : `site ${siteId}`) },
    { title: 'Stored', isNumber: true, cell: storedOfTotal },
    { title: 'Parts', isNumber: true, cell: (upload) => formatCount(upload.partCount, 'part') },
    { title: 'State', cell: (upload) => (upload.isWhole ? badge('all bytes stored', 'good') : badge('in progress')) },
    { title: 'Rate', isNumber: true, cell: (upload) => rates.get(upload.uploadId) },
    { title: 'Started', cell: (upload) => timeElement(upload.createdAt) },
    { title: 'Session ends', cell: (upload) => timeElement(upload.sessionEndsAt) },
  ]
}

/** The stored bytes, with the total where the client told it. */
function storedOfTotal({ storedBytes, fileSizeBytes }) {
  const total = Number(fileSizeBytes ?? 0)
  return formatBytes(storedBytes) + (total ? ` of ${formatBytes(total)}` : '')
}

/** The rate of each upload, over the last updates of the page. */
class Rates {
  /** Number of updates over which a rate is averaged. */
  static sampleLimit = 10

  constructor() {
    this.samples = new Map()
  }

  /** Adds a sample of each upload; returns a map from upload ids to rates such as `12 MiB/s`. */
  update(uploads) {
    const now = performance.now()
    const nextSamples = new Map()
    const rates = new Map()
    for (const { uploadId, storedBytes } of uploads) {
      const sample = { now, stored: Number(storedBytes ?? 0) }
      const samples = [...(this.samples.get(uploadId) ?? []), sample].slice(-Rates.sampleLimit)
      nextSamples.set(uploadId, samples)
      const [first, last] = [samples[0], samples.at(-1)]
      if (last.stored > first.stored) {
        rates.set(uploadId, `${formatBytes(((last.stored - first.stored) * 1000) / (last.now - first.now))}/s`)
      }
    }
    this.samples = nextSamples
    return rates
  }
}

/** Resolves after the time, or when `signal` is aborted. */
function wait(milliseconds, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', resolve, { once: true })
  })
}

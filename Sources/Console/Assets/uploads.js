import { call } from './api.js'
import { deviceLink } from './devices.js'
import { alertMessage, badge, h, pageHeader } from './dom.js'
import { formatBytes, formatCount, timeElement } from './format.js'
import { table, updateTable } from './table.js'

/** How often the page looks, in milliseconds. */
const refreshInterval = 1000

/** The uploads under way, as they move. */
export async function renderUploads(body, { signal }) {
  const list = h('div', {}, h('p', { class: 'empty' }, 'Loading…'))
  const hint = h('p', { class: 'hint', hidden: true }, 'These are the 100 that began last.')
  const rates = new Rates()
  body.replaceChildren(pageHeader('Uploads under way'), list, hint)

  while (!signal.aborted) {
    if (!document.hidden) {
      try {
        const { uploads = [], nextPageToken } = await call(
          'uploads', 'ListUploads', { pageSize: 100 }, { isBackground: true })
        if (signal.aborted) return
        updateTable(list, table(columns(rates.update(uploads)), uploads, 'No upload is under way.'))
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
    { title: 'Upload', cell: (upload) => h('code', {}, upload.uploadId) },
    { title: 'From', cell: ({ deviceId, siteId }) => (deviceId ? deviceLink(deviceId) : `site ${siteId}`) },
    { title: 'Stored', isNumber: true, cell: (upload) => formatBytes(upload.storedBytes) },
    { title: 'Parts', isNumber: true, cell: (upload) => formatCount(upload.partCount, 'part') },
    { title: 'State', cell: (upload) => (upload.isWhole ? badge('all bytes are here', 'good') : badge('under way')) },
    { title: 'Rate', isNumber: true, cell: (upload) => rates.get(upload.uploadId) },
    { title: 'Began', cell: (upload) => timeElement(upload.createdAt) },
    { title: 'Session ends', cell: (upload) => timeElement(upload.sessionEndsAt) },
  ]
}

/** Bytes a second, over what the last looks saw. */
class Rates {
  /** Looks that count. */
  static sampleLimit = 10

  constructor() {
    this.seen = new Map()
  }

  /** `uploadId` → text. */
  update(uploads) {
    const now = performance.now()
    const seen = new Map()
    const rates = new Map()
    for (const { uploadId, storedBytes } of uploads) {
      const sample = { now, stored: Number(storedBytes ?? 0) }
      const samples = [...(this.seen.get(uploadId) ?? []), sample].slice(-Rates.sampleLimit)
      seen.set(uploadId, samples)
      const [first, last] = [samples[0], samples.at(-1)]
      if (last.stored > first.stored) {
        rates.set(uploadId, `${formatBytes(((last.stored - first.stored) * 1000) / (last.now - first.now))}/s`)
      }
    }
    this.seen = seen
    return rates
  }
}

function wait(milliseconds, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', resolve, { once: true })
  })
}

import { call } from './api.js'
import { deviceLink } from './devices.js'
import { alertBox, badge, h, pageHead } from './dom.js'
import { bytes, count, time } from './format.js'
import { table, updateTable } from './table.js'

/** How often the page looks, in milliseconds. */
const interval = 1000

/** The uploads under way, as they move. */
export async function renderUploads(body, { signal }) {
  const list = h('div', {}, h('p', { class: 'empty' }, 'Loading…'))
  const hint = h('p', { class: 'hint', hidden: true }, 'These are the 100 that began last.')
  const rates = new Rates()
  body.replaceChildren(pageHead('Uploads under way'), list, hint)

  while (!signal.aborted) {
    if (!document.hidden) {
      try {
        const { uploads = [], nextPageToken } = await call(
          'uploads', 'ListUploads', { pageSize: 100 }, { isBackground: true })
        if (signal.aborted) return
        updateTable(list, table(columns(rates.of(uploads)), uploads, 'No upload is under way.'))
        hint.hidden = !nextPageToken
      } catch (error) {
        if (signal.aborted || error.status === 401) return
        list.replaceChildren(alertBox(error.message))
      }
    }
    await pause(interval, signal)
  }
}

function columns(rates) {
  return [
    { title: 'Upload', cell: (upload) => h('code', {}, upload.uploadId) },
    { title: 'From', cell: ({ deviceId, siteId }) => (deviceId ? deviceLink(deviceId) : `site ${siteId}`) },
    { title: 'Stored', isNumber: true, cell: (upload) => bytes(upload.storedBytes) },
    { title: 'Parts', isNumber: true, cell: (upload) => count(upload.partCount, 'part') },
    { title: 'State', cell: (upload) => (upload.isWhole ? badge('all bytes are here', 'good') : badge('under way')) },
    { title: 'Rate', isNumber: true, cell: (upload) => rates.get(upload.uploadId) },
    { title: 'Began', cell: (upload) => time(upload.createdAt) },
    { title: 'Session ends', cell: (upload) => time(upload.sessionEndsAt) },
  ]
}

/** Bytes a second, over what the last looks saw. */
class Rates {
  /** Looks that count. */
  static window = 10

  constructor() {
    this.seen = new Map()
  }

  /** `uploadId` → text. */
  of(uploads) {
    const now = performance.now()
    const seen = new Map()
    const rates = new Map()
    for (const { uploadId, storedBytes } of uploads) {
      const looks = [...(this.seen.get(uploadId) ?? []), { now, stored: Number(storedBytes ?? 0) }].slice(-Rates.window)
      seen.set(uploadId, looks)
      const [first, last] = [looks[0], looks.at(-1)]
      if (last.stored > first.stored) {
        rates.set(uploadId, `${bytes(((last.stored - first.stored) * 1000) / (last.now - first.now))}/s`)
      }
    }
    this.seen = seen
    return rates
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', resolve, { once: true })
  })
}

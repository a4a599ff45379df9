import { showNotice } from './dom.js'
import { formatCount } from './format.js'

/** The size of the pages that an export loads. */
const pageSize = 1000

/**
 * Downloads the newest records of a list, at most about `limit`, and shows how many; nothing once the signal is aborted.
 *
 * `load({ pageSize, pageToken })` resolves to `{ records, nextPageToken }`. `noun`: one record; `span`: what to shorten for older ones.
 */
export async function exportPages(load, { name, format, columns, limit, noun, span, signal }) {
  const records = []
  let pageToken = ''
  do {
    const page = await load({ pageSize, pageToken })
    records.push(...page.records)
    pageToken = page.nextPageToken ?? ''
  } while (pageToken && records.length < limit && !signal.aborted)
  if (signal.aborted) return
  exportRecords(name, format, records, columns)
  const exported = formatCount(records.length, noun)
  showNotice(pageToken ? `The newest ${exported} were exported. Choose a shorter ${span} for older ones.` : `${exported} exported.`)
}

/** Downloads records, objects with the same members, as a file in the format `csv` or `json`; `columns`: its columns if there are no records. */
export function exportRecords(name, format, records, columns) {
  const text = format === 'csv' ? csvText(records, columns) : `${JSON.stringify({ [name]: records }, null, 2)}\n`
  saveText(`${name}.${format}`, format === 'csv' ? 'text/csv' : 'application/json', text)
}

/** Downloads a text as a file of that type. */
export function saveText(fileName, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = fileName
  link.click()
  URL.revokeObjectURL(url)
}

/** The records as CSV (RFC 4180). A text that a spreadsheet would take for a formula begins with an apostrophe. */
function csvText(records, columns) {
  const cell = (value) => {
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return [columns, ...records.map((record) => columns.map((column) => record[column]))]
    .map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

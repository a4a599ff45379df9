import { call } from './api.js'
import { button, h, pageHead } from './dom.js'
import { fieldRow } from './dialog.js'
import { time } from './format.js'
import { table } from './table.js'

const spans = [['3600', 'the last hour'], ['86400', 'the last day'], ['604800', 'the last week'], ['', 'the beginning']]
const pageSize = 200

/** Who did what to what: the newest that were loaded stand first. */
export async function renderAudit(body, { query }) {
  const span = query.get('since') ?? '86400'
  const since = span && new Date(Date.now() - Number(span) * 1000).toISOString()
  const place = h('div', { class: 'table-place' })
  body.replaceChildren(
    pageHead('Audit'),
    h('div', { class: 'filters', onchange: (event) => { location.hash = `#/audit?since=${event.target.value}` } },
      fieldRow({ name: 'since', label: 'Since', type: 'select', value: span, options: spans })),
    place)

  let lines = []
  async function more(pageToken) {
    const page = await call('audit', 'ListAuditLines', { pageSize, pageToken, ...(since && { since }) })
    const found = page.lines ?? []
    lines = [...found.reverse(), ...lines]
    const label = found.length < pageSize ? 'Look for newer lines' : 'Show newer lines'
    place.replaceChildren(
      button(label, () => more(page.nextPageToken), 'more'), table(columns, lines, 'Nothing happened.'))
  }
  await more('')
}

const columns = [
  { title: 'When', cell: (line) => time(line.at) },
  { title: 'Who', cell: (line) => line.actor },
  { title: 'What', cell: (line) => `${line.action}${Number(line.count) > 1 ? ` × ${line.count}` : ''}` },
  { title: 'To what', cell: (line) => line.target && h('code', { class: 'target' }, line.target) },
  { title: 'Result', cell: (line) => line.result },
  { title: 'Organization', cell: (line) => line.organization || null },
  { title: 'From', cell: (line) => line.peer || null },
]

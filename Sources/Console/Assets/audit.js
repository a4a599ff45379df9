import { call } from './api.js'
import { button, h, pageHead } from './dom.js'
import { fieldRow } from './dialog.js'
import { time } from './format.js'
import { pagedTable } from './table.js'

const spans = [['3600', 'the last hour'], ['86400', 'the last day'], ['604800', 'the last week'], ['', 'the beginning']]

/** Who did what to what, newest first. */
export function renderAudit(body, { query, reload }) {
  const span = query.get('since') ?? '86400'
  const since = span && new Date(Date.now() - Number(span) * 1000).toISOString()
  body.replaceChildren(
    pageHead('Audit', button('Look again', reload)),
    h('div', { class: 'filters', onchange: (event) => { location.hash = `#/audit?since=${event.target.value}` } },
      fieldRow({ name: 'since', label: 'Since', type: 'select', value: span, options: spans })),
    pagedTable(columns, async (pageToken) => {
      const { lines = [], nextPageToken } = await call(
        'audit', 'ListAuditLines', { newestFirst: true, pageSize: 100, pageToken, ...(since && { since }) })
      return { rows: lines, next: nextPageToken }
    }, 'Nothing happened.'))
}

const columns = [
  { title: 'When', cell: (line) => time(line.at) },
  { title: 'Who', cell: (line) => line.actor },
  { title: 'What', cell: (line) => `${line.action}${Number(line.count) > 1 ? ` × ${line.count}` : ''}` },
  { title: 'To what', cell: (line) => line.target && h('code', { class: 'target' }, [line.target, ...line.ids ?? []].join(' ')) },
  { title: 'Result', cell: (line) => line.result },
  { title: 'Organization', cell: (line) => line.organization || null },
  { title: 'From', cell: (line) => line.peer || null },
]

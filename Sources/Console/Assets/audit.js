import { call } from './api.js'
import { button, h, pageHeader } from './dom.js'
import { formField } from './dialog.js'
import { timeElement } from './format.js'
import { pagedTable } from './table.js'

const periods = [['3600', 'the last hour'], ['86400', 'the last day'], ['604800', 'the last week'], ['', 'the beginning']]

/** Who did what to what, newest first. */
export function renderAudit(body, { query, reload }) {
  const period = query.get('since') ?? '86400'
  const since = period && new Date(Date.now() - Number(period) * 1000).toISOString()
  body.replaceChildren(
    pageHeader('Audit', button('Look again', reload)),
    h('div', { class: 'filters', onchange: (event) => { location.hash = `#/audit?since=${event.target.value}` } },
      formField({ name: 'since', label: 'Since', type: 'select', value: period, options: periods })),
    pagedTable(columns, async (pageToken) => {
      const { lines = [], nextPageToken } = await call(
        'audit', 'ListAuditLines', { newestFirst: true, pageSize: 100, pageToken, ...(since && { since }) })
      return { rows: lines, next: nextPageToken }
    }, 'Nothing happened.'))
}

const columns = [
  { title: 'When', cell: (line) => timeElement(line.at) },
  { title: 'Who', cell: (line) => line.actor },
  { title: 'What', cell: (line) => `${line.action}${Number(line.count) > 1 ? ` × ${line.count}` : ''}` },
  { title: 'To what', cell: (line) => line.target && h('code', { class: 'target' }, [line.target, ...line.ids ?? []].join(' ')) },
  { title: 'Result', cell: (line) => line.result },
  { title: 'Organization', cell: (line) => line.organization || null },
  { title: 'From', cell: (line) => line.peer || null },
]

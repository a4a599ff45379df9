import { call } from './api.js'
import { button, h, nameText, pageHeader } from './dom.js'
import { formField } from './dialog.js'
import { timeElement } from './format.js'
import { pagedTable } from './table.js'

const periods = [['3600', 'Last hour'], ['86400', 'Last 24 hours'], ['604800', 'Last 7 days'], ['', 'All time']]

/** Shows the lines of the audit log, newest first. */
export function renderAudit(body, { query, reload }) {
  const period = query.get('since') ?? '86400'
  const since = period && new Date(Date.now() - Number(period) * 1000).toISOString()
  body.replaceChildren(
    pageHeader('Audit log', button('Refresh', reload)),
    h('div', { class: 'filters', onchange: (event) => { location.hash = `#/audit?since=${event.target.value}` } },
      formField({ name: 'since', label: 'Period', type: 'select', value: period, options: periods })),
    pagedTable(columns, async (pageToken) => {
      const { lines = [], nextPageToken } = await call(
        'audit', 'ListAuditLines', { newestFirst: true, pageSize: 100, pageToken, ...(since && { since }) })
      return { rows: lines, next: nextPageToken }
    }, period ? 'No events in this period.' : 'No events.'))
}

const columns = [
  { title: 'Time', cell: (line) => timeElement(line.at) },
  { title: 'Actor', cell: (line) => nameText(line.actor) },
  {
    title: 'Action',
    cell: ({ action, count }) => h('span', { class: 'action' }, Number(count) > 1 ? `${action} × ${count}` : action),
  },
  {
    title: 'Target',
    cell: (line) => line.target && h('code', { class: 'target' }, [line.target, ...line.ids ?? []].join(' ')),
  },
  { title: 'Result', cell: (line) => line.result },
  { title: 'Organization', cell: (line) => line.organization || null },
  { title: 'Client address', cell: (line) => line.peer || null },
]

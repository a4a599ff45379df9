import { call } from './api.js'
import { deviceLink } from './device-names.js'
import { button, h, nameText, pageHeader } from './dom.js'
import { formField } from './dialog.js'
import { formatCount, timeElement } from './format.js'
import { pagedTable } from './table.js'

const periods = [['3600', 'Last hour'], ['86400', 'Last 24 hours'], ['604800', 'Last 7 days'], ['', 'All time']]

/** Ids that a line shows without being opened. */
const shownIds = 3

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

/** The id in `device:ID`, an actor, or `devices/ID`, a target. */
function deviceOf(text = '') {
  return text.match(/^(?:device:|devices\/)(\d{6}-\d{6})$/)?.[1]
}

function code(text) {
  return h('code', { class: 'target' }, text)
}

const columns = [
  { title: 'Time', cell: (line) => timeElement(line.at) },
  { title: 'Actor', cell: ({ actor }) => (deviceOf(actor) ? deviceLink(deviceOf(actor)) : nameText(actor)) },
  {
    title: 'Action',
    cell: ({ action, count }) => h('span', { class: 'action' }, Number(count) > 1 ? `${action} × ${count}` : action),
  },
  {
    title: 'Target',
    cell: ({ target, ids = [] }) => {
      if (ids.length === 0) return target && (deviceOf(target) ? deviceLink(deviceOf(target)) : code(target))
      if (ids.length <= shownIds) return code([target, ...ids].join(' '))
      return h('details', {}, h('summary', {}, h('code', {}, target), ` and ${formatCount(ids.length, 'id')}`), code(ids.join(' ')))
    },
  },
  { title: 'Result', cell: (line) => line.result },
  { title: 'Organization', cell: (line) => line.organization || null },
  { title: 'Client address', cell: (line) => line.peer || null },
]

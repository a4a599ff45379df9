import { call, isSystemUser, selectedOrganization } from './api.js'
import { auditFields, auditFilter, auditRequest, isFiltered } from './audit-filter.js'
import { auditSentence } from './audit-sentence.js'
import { badge, button, h, pageHeader } from './dom.js'
import { exportPages } from './export-file.js'
import { timeElement } from './format.js'
import { pagedTable } from './table.js'

/** Lines of one export. */
const exportLimit = 100_000
/** Requests for one page: a page without matching lines is continued. */
const mostRequests = 10
const pageSize = 50

/** Shows the lines of the audit log, newest first: those of a filter, which is in the page's address. */
export async function renderAudit(body, { query, reload, signal }) {
  const filter = auditFilter(query)
  const request = await auditRequest(filter, Date.now())
  const load = async (pageToken) => {
    const rows = []
    for (let count = 0, next = pageToken; ; count += 1) {
      const reply = await call('audit', 'ListAuditLines', { ...request, pageSize, pageToken: next })
      rows.push(...reply.lines ?? [])
      next = reply.nextPageToken ?? ''
      if (!next || rows.length > 0 || count >= mostRequests || signal.aborted) return { rows, next }
    }
  }
  body.replaceChildren(
    pageHeader('Audit log', button('Export CSV', () => exportLines(request, 'csv', signal)),
      button('Export JSON', () => exportLines(request, 'json', signal)), button('Refresh', reload)),
    auditFields(filter),
    pagedTable(columns(), load, isFiltered(filter) ? 'No events match the filter.' : 'No events in this period.'))
}

function columns() {
  const seesAll = isSystemUser() && !selectedOrganization()
  return [
    { title: 'Time', cell: (line) => timeElement(line.at) },
    { title: 'Event', cell: auditSentence },
    seesAll && { title: 'Organization', cell: (line) => line.organization || null },
    { title: 'Result', cell: ({ result }) => (result === 'OK' ? null : badge(result, 'bad')) },
    { title: 'Client address', isMinor: true, cell: (line) => line.peer || null },
  ].filter(Boolean)
}

const exportedColumns = ['at', 'sentence', 'actor', 'action', 'target', 'ids', 'result', 'count', 'organization', 'peer', 'line_id']

/** Downloads the lines of the filter, each by itself. */
async function exportLines(request, format, signal) {
  const load = async (page) => {
    const { lines = [], nextPageToken } = await call('audit', 'ListAuditLines', { ...request, foldKeys: false, ...page }, { isBackground: true })
    return { records: lines.map(exported), nextPageToken }
  }
  return exportPages(load, { name: 'audit', format, columns: exportedColumns, limit: exportLimit, noun: 'line', span: 'period', signal })
}

/** The fields of a line for other programs, by the names of the command line. */
function exported(line) {
  return {
    at: line.at, sentence: (line.sentence ?? []).map(({ text }) => text).join(''), actor: line.actor, action: line.action,
    target: line.target ?? '', ids: (line.ids ?? []).join(' '), result: line.result, count: Number(line.count ?? 1),
    organization: line.organization ?? '', peer: line.peer ?? '', line_id: Number(line.lineId),
  }
}

import { call } from './api.js'
import { badge, h, pageHeader, propertyList } from './dom.js'
import { diskOf, usedText } from './disk.js'
import { formatBytes, formatDuration, timeElement } from './format.js'
import { table, updateTable } from './table.js'
import { repeatWhileVisible } from './wait.js'

/** Time between two updates, in milliseconds: gateways renew their leases as often. */
const refreshInterval = 5000

/** Shows the gateways of the service, the work of each, and the place of the objects; updated while the page is shown. */
export async function renderGateways(body, { signal }) {
  const gateways = h('div', {})
  const objects = h('div', {})
  async function update(isBackground = false) {
    const status = await call('system', 'GetSystemStatus', {}, { organization: '', isBackground })
    if (signal.aborted) return
    updateTable(gateways, gatewayTable(status))
    objects.replaceChildren(place(status))
  }
  await update()
  body.replaceChildren(
    pageHeader('Gateways'),
    h('p', {}, 'Gateways with one database are one service. A gateway that does not renew its right to the database for 30 '
      + 'seconds is not listed any more, and the others do its work.'),
    gateways, h('h2', {}, 'Objects'), objects)
  repeatWhileVisible(refreshInterval, signal, () => update(true))
}

function gatewayTable({ replicas = [], version, startedAt }) {
  // A database in the data directory has one gateway, which renews nothing.
  const rows = replicas.length > 0 ? replicas : [{ version, startedAt, isThis: true }]
  const versions = new Set(rows.map((row) => row.version))
  return table([
    { title: 'Gateway', cell: (row) => [...described(row), row.isThis && replicas.length > 1 && [' ', badge('answers this page')]] },
    { title: 'Version', cell: (row) => [row.version, versions.size > 1 && row.version !== version
      && [' ', badge('another version', 'bad')]] },
    { title: 'Last renewal', cell: (row) => (row.description ? `${formatDuration(Number(row.secondsSinceRenewal ?? 0))} ago` : null) },
    { title: 'Work that one gateway does', cell: ({ leases = [] }) => (replicas.length > 0 ? leases.join(', ') || 'none' : 'all') },
  ], rows, '', (row) => row.description)
}

/** A gateway as its row describes it, with the time of its start. */
function described({ description, startedAt }) {
  if (!description) return ['This gateway, started at ', timeElement(startedAt, { isShort: true })]
  const [, before, time] = /^(.* started at )(\S+)$/.exec(description) ?? [null, description, null]
  return [before, time && timeElement(time, { isShort: true })]
}

/** Where the bytes of the objects are, and the state of that place. */
function place(status) {
  const engine = status.objectEngine
  if (!engine) {
    const disk = diskOf(status)
    return propertyList([['Kept in', 'the data directory'], ['Disk', disk.free !== null && `${formatBytes(disk.free)} free`], ['Used', usedText(disk)]])
  }
  return propertyList([
    ['Bucket', engine.bucket], ['Prefix', engine.prefix],
    ['Right to the prefix', badge(engine.ownership, engine.ownership === 'held' ? 'good' : 'bad')],
    ['Not removed from the bucket', engine.divergence],
    ['Latest failure', engine.lastFailure && [timeElement(engine.lastFailureAt), ': ', engine.lastFailure]],
    ['Slow bodies on the local disk', `${formatBytes(engine.spoolBytes)} of ${formatBytes(engine.spoolLimitBytes)}`],
  ])
}

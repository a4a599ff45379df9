import { call, createBackupDownload } from './api.js'
import { alertMessage, badge, h, pageHeader } from './dom.js'
import { formField } from './dialog.js'
import { formatBytes, formatDuration, timeElement } from './format.js'
import { restoreSections } from './restore.js'
import { table } from './table.js'

/** Shows the results of scheduled backups, downloads a backup, and restores one. */
export async function renderBackup(body, { signal }) {
  const errorArea = h('div', {})
  const submitButton = h('button', { type: 'submit', class: 'primary' }, 'Download backup')
  const form = h('form', { class: 'card' },
    h('p', {}, 'A backup contains the database, the gateway’s own keys and every object as of one point in time. '
      + 'The gateway continues to serve calls while the backup is made.'),
    h('p', { class: 'warning' }, 'Keep the backup secret: anyone who has it has the gateway’s keys. '
      + 'The command “data-gateway backup --passphrase-file FILE” makes an encrypted backup.'),
    formField({ name: 'withoutObjects', label: 'Without object data', type: 'checkbox',
      hint: 'A smaller file that can only be restored over the existing object store.' }),
    errorArea, submitButton)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    errorArea.replaceChildren()
    try {
      location.assign(await createBackupDownload(new FormData(form).has('withoutObjects')))
    } catch (error) {
      errorArea.replaceChildren(alertMessage(error.message))
    }
  })
  const { backupSchedules = [] } = await call('system', 'GetSystemStatus', {}, { organization: '' })
  const { notice, section } = await restoreSections(signal)
  body.replaceChildren(pageHeader('Backup'), notice, h('h2', {}, 'Scheduled backups'), scheduleTable(backupSchedules),
    h('h2', {}, 'Download'), form, h('h2', {}, 'Restore'), section)
}

function scheduleTable(schedules) {
  return table([
    { title: 'Schedule', cell: (schedule) => schedule.name },
    { title: 'Every', cell: (schedule) => formatDuration(Number(schedule.intervalSeconds ?? 0)) },
    { title: 'State', cell: stateBadge },
    { title: 'Last backup', cell: (schedule) => timeElement(schedule.lastSuccessAt, { isShort: true }) ?? 'never' },
    { title: 'Took', isNumber: true, cell: ({ lastSuccessAt, lastDurationSeconds }) =>
      lastSuccessAt && formatDuration(Number(lastDurationSeconds ?? 0)) },
    { title: 'Size', isNumber: true, cell: ({ lastSuccessAt, lastSizeBytes }) =>
      lastSuccessAt && formatBytes(lastSizeBytes) },
    { title: 'Objects not intact', isNumber: true, cell: (schedule) => String(schedule.lostObjects ?? 0) },
    { title: 'Failures since the start', isNumber: true, cell: (schedule) => String(schedule.failures ?? 0) },
  ], schedules, 'No schedules. They are defined in the configuration (backup.schedules).')
}

function stateBadge(schedule) {
  if (schedule.isRunning) return badge('running')
  return isOverdue(schedule) ? badge('overdue', 'bad') : badge('in time', 'good')
}

/** Whether the last complete backup is older than two intervals. */
export function isOverdue({ intervalSeconds, lastSuccessAt }) {
  return !lastSuccessAt || Date.now() - Date.parse(lastSuccessAt) > 2000 * Number(intervalSeconds ?? 0)
}

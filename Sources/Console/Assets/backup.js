import { createBackupDownload } from './api.js'
import { alertMessage, h, pageHeader } from './dom.js'
import { formField } from './dialog.js'

/** Downloads a backup: one file from which the whole gateway can be restored. */
export async function renderBackup(body) {
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
  body.replaceChildren(pageHeader('Backup'), form)
}

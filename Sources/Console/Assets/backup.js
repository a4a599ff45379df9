import { createBackupDownload } from './api.js'
import { alertMessage, h, pageHeader } from './dom.js'
import { formField } from './dialog.js'

/** One file from which the whole gateway can be made again. */
export async function renderBackup(body) {
  const errorArea = h('div', {})
  const submitButton = h('button', { type: 'submit', class: 'primary' }, 'Download a backup')
  const form = h('form', { class: 'card' },
    h('p', {}, 'A backup holds the database, the gateway’s own keys and every object, as they are at one moment. '
      + 'It is taken while the gateway serves.'),
    h('p', { class: 'warning' }, 'Keep it as secret as the gateway: whoever has it has the keys. '
      + '“data-gateway backup --passphrase-file” makes one that is encrypted.'),
    formField({ name: 'withoutObjects', label: 'Leave out the objects’ data', type: 'checkbox',
      hint: 'A small file, to be restored over the store that is there.' }),
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

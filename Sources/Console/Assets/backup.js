import { offerBackup } from './api.js'
import { alertBox, h, pageHead } from './dom.js'
import { fieldRow } from './dialog.js'

/** One file from which the whole gateway can be made again. */
export async function renderBackup(body) {
  const problem = h('div', {})
  const done = h('button', { type: 'submit', class: 'primary' }, 'Download a backup')
  const form = h('form', { class: 'card' },
    h('p', {}, 'A backup holds the database, the gateway’s own keys and every object, as they are at one moment. '
      + 'It is taken while the gateway serves.'),
    h('p', { class: 'warning' }, 'Keep it as secret as the gateway: whoever has it has the keys. '
      + '“data-gateway backup --passphrase-file” makes one that is encrypted.'),
    fieldRow({ name: 'withoutObjects', label: 'Leave out the objects’ data', type: 'checkbox',
      hint: 'A small file, to be restored over the store that is there.' }),
    problem, done)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    problem.replaceChildren()
    try {
      location.assign(await offerBackup(new FormData(form).has('withoutObjects')))
    } catch (error) {
      problem.replaceChildren(alertBox(error.message))
    }
  })
  body.replaceChildren(pageHead('Backup'), form)
}

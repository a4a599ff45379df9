import { call, session } from './api.js'
import { showFormDialog } from './dialog.js'
import { h } from './dom.js'
import { formatBytes, formatCount } from './format.js'
import { wait } from './wait.js'

/** Time between two looks at a gateway that restarts, in milliseconds. */
const interval = 1000

const password = { name: 'password', label: 'Your password', type: 'password', required: true, autocomplete: 'current-password' }

function request(method, message, options = {}) {
  return call('restore', method, message, { ...options, organization: '' })
}

/** Asks for the password, restarts the gateway with the archive's data, and shows the result. */
export async function applyArchive({ stagingId, content = {}, lacking = {} }, lastRestore) {
  const lost = [
    Number(lacking.objects ?? 0) > 0 && `${formatCount(lacking.objects, 'object')} (${formatBytes(lacking.objectBytes)})`,
    Number(lacking.devices ?? 0) > 0 && formatCount(lacking.devices, 'device'),
    Number(lacking.users ?? 0) > 0 && formatCount(lacking.users, 'user'),
    Number(lacking.sites ?? 0) > 0 && formatCount(lacking.sites, 'site'),
    Number(lacking.organizations ?? 0) > 0 && formatCount(lacking.organizations, 'organization'),
  ].filter(Boolean)
  await confirmRestart('Restore this archive?', [
    `The gateway ends, starts again and has the archive’s ${formatCount(content.objects, 'object')} and `
      + `${formatCount(content.devices, 'device')} then. It serves no calls in between.`,
    lost.length > 0 && `No longer listed afterwards: ${lost.join(', ')}.`,
    'Uploads in progress start again. Sessions that were opened after the backup end.',
    'The present data stay on the disk until you delete them.',
  ], 'Restore', (values) => request('ApplyArchive', { stagingId, ...values }), lastRestore)
}

export function returnToPreviousData(lastRestore) {
  return confirmRestart('Return to the previous data?', [
    'The gateway ends, starts again and has the data from before the last restore. What was changed or uploaded since is '
      + 'not listed then, but stays on the disk.',
  ], 'Return', (values) => request('ReturnToPreviousData', values), lastRestore)
}

export function deletePreviousData({ folder }, reload) {
  return showFormDialog({
    title: 'Delete the previous data?',
    text: `The data from before the last restore (${folder}) are deleted permanently, with the objects that the restored data lack.`,
    fields: [password], submit: 'Delete', isDangerous: true,
    action: async (values) => {
      await request('DeletePreviousData', values)
      await reload()
    },
  })
}

/** `lastRestore` is the result that the page shows: the restart is over when the gateway has another one. */
async function confirmRestart(title, sentences, submit, action, lastRestore) {
  let isConfirmed = false
  await showFormDialog({
    title, content: sentences.filter(Boolean).map((sentence) => h('p', {}, sentence)), fields: [password], submit,
    isDangerous: true, action: async (values) => {
      await action(values)
      isConfirmed = true
    },
  })
  if (isConfirmed) await followRestart(lastRestore)
}

/** Covers the page until the gateway has a new result, or the session has ended with the old data. */
async function followRestart(before) {
  document.getElementById('content').replaceChildren(h('div', { class: 'page restarting', role: 'status' },
    h('h1', {}, 'The gateway is restarting'),
    h('p', {}, 'The gateway finishes the calls in progress, ends, and replaces the data. A large archive takes a while. This page shows '
      + 'the result as soon as the gateway serves again.'),
    h('p', { class: 'hint' }, 'A gateway that no service manager starts again, for example in a terminal, has to be started by hand.'),
    h('progress', { 'aria-label': 'Restart' })))
  const signedOutReason = 'The gateway has restarted with other data. Sign in again to see the result on the page Backup.'
  while (session) {
    await wait(interval)
    // Until it serves again, the gateway cannot be reached.
    const { lastRestore: last } = await request('GetRestore', {}, { isQuiet: true, signedOutReason }).catch(() => ({}))
    if (last && last.finishedAt !== before?.finishedAt) return location.reload()
  }
}

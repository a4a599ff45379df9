import { call } from './api.js'
import { h, showNotice } from './dom.js'
import { showDialog, showFormDialog } from './dialog.js'
import { formatCount } from './format.js'
import { go } from './organization-choice.js'

/** Copies objects to a destination of the configuration, in a job of its own. */
export async function copyObjects(fileIds) {
  const { destinations = [] } = await call('copyManagement', 'ListCopyDestinations')
  if (destinations.length === 0) {
    return showDialog('No destinations', h('p', {}, 'The gateway’s configuration lists no destination for this '
      + 'organization: see ', h('code', {}, 'copy.destinations'), '.'))
  }
  return showFormDialog({
    title: `Copy ${formatCount(fileIds.length, 'object')}`, submit: 'Copy',
    fields: [
      { name: 'destination', label: 'Destination', type: 'select',
        options: destinations.map(({ name }, index) => [index, name]) },
      { name: 'keyTemplate', label: 'Key', value: `${destinations[0].keyPrefix ?? ''}{device}/{date}/{path}`, required: true,
        hint: 'The path of each copy; {device}, {site}, {date}, {time}, {path}, {name}, {stem}, {ext}, {id} and {tag:KEY} are replaced.' },
    ],
    action: async ({ destination, keyTemplate }) => {
      const target = destinations[Number(destination)].destination
      const { copyJobId } = await call('copies', 'CreateCopyJob', {
        fileIds, destination: { ...target, keyTemplate }, idempotencyKey: crypto.randomUUID(),
      })
      showNotice('The copy job was started.')
      go(`#/copies/${copyJobId}`)
    },
  })
}

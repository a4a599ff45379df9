import { call, callAll } from './api.js'
import { button, h, nameText, pageHeader, showNotice } from './dom.js'
import { showFormDialog } from './dialog.js'
import { formatBytes, formatCount, timeElement } from './format.js'
import { table } from './table.js'

const passwordHint = 'At least 8 characters.'

/** Shows all organizations, for admins of `system`. */
export async function renderOrganizations(body, { reload }) {
  const organizations = await callAll('admin', 'ListOrganizations', 'organizations', {}, { organization: '' })
  body.replaceChildren(
    pageHeader('Organizations', button('New organization', () => createOrganization(reload), 'primary')),
    h('p', {}, 'Each organization sees only its own sites, devices, users and objects. Select one in the header to act '
      + 'for it.'),
    table([
      { title: 'Organization', cell: (each) => nameText(each.organization) },
      { title: 'Name', cell: (each) => each.displayName || null },
      { title: 'Created', cell: (each) => timeElement(each.createdAt) },
      { title: '', isActions: true, cell: (each) => [
        button('Rename', () => renameOrganization(each, reload)),
        button('Statistics', () => showStatistics(each)),
        each.organization !== 'system' && button('Delete', () => deleteOrganization(each, reload), 'danger'),
      ] },
    ], organizations, 'No organizations.'))
}

function createOrganization(reload) {
  return showFormDialog({
    title: 'New organization', submit: 'Create',
    fields: [
      { name: 'organization', label: 'Organization', required: true, autocapitalize: 'none', autocomplete: 'off',
        hint: 'The name with which its users sign in; it cannot be changed.' },
      { name: 'displayName', label: 'Name', required: true },
      { name: 'bootstrapAdminUserName', label: 'User name of its first admin', required: true, autocapitalize: 'none',
        autocomplete: 'off' },
      { name: 'bootstrapAdminPassword', label: 'Password of its first admin', type: 'password', required: true,
        minlength: 8, autocomplete: 'new-password', hint: passwordHint },
    ],
    action: async (message) => {
      await call('admin', 'CreateOrganization', message, { organization: '' })
      showNotice(`Organization “${message.organization}” was created.`)
      await reload()
    },
  })
}

function renameOrganization({ organization, displayName }, reload) {
  return showFormDialog({
    title: `Rename organization “${organization}”`, submit: 'Rename',
    fields: [{ name: 'displayName', label: 'Name', value: displayName, required: true }],
    action: async (message) => {
      await call('admin', 'UpdateOrganization', { organization, ...message }, { organization: '' })
      showNotice(`Organization “${organization}” was renamed.`)
      await reload()
    },
  })
}

async function showStatistics({ organization }) {
  const { storedObjects, storedBytes } = await call('management', 'GetStatistics', { days: 1 }, { organization })
  showNotice(`${organization}: ${formatCount(storedObjects, 'object')}, ${formatBytes(storedBytes)}.`)
}

function deleteOrganization({ organization }, reload) {
  return showFormDialog({
    title: `Delete organization “${organization}”?`, submit: 'Delete', isDangerous: true,
    text: 'An organization that still has users, sites or devices cannot be deleted.',
    fields: [{ name: 'typed', label: `Type ${organization} to confirm`, required: true, autocomplete: 'off' }],
    action: async ({ typed }) => {
      if (typed !== organization) throw new Error(`Type ${organization} to confirm.`)
      await call('admin', 'DeleteOrganization', { organization }, { organization: '' })
      showNotice(`Organization “${organization}” was deleted.`)
      await reload()
    },
  })
}

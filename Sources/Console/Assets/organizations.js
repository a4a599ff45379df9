import { call, callAll } from './api.js'
import { button, h, nameText, pageHeader, propertyList, showNotice } from './dom.js'
import { showDialog, showFormDialog } from './dialog.js'
import { formatBytes, formatCount, timeElement } from './format.js'
import { inOrganization } from './organization-choice.js'
import { table } from './table.js'

/** The days over which the statistics of an organization are summed. */
const statisticsDays = 30
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
      { title: 'Created', cell: (each) => timeElement(each.createdAt, { isShort: true }) },
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
  const { storedObjects, storedBytes, days = [] } = await call('management', 'GetStatistics', { days: statisticsDays }, { organization })
  const sum = (kind) => {
    const [objects, bytes] = ['Objects', 'Bytes'].map((unit) => days.reduce((total, day) => total + Number(day[kind + unit] ?? 0), 0))
    return `${formatCount(objects, 'object')}, ${formatBytes(bytes)}`
  }
  await showDialog(`Statistics of “${organization}”`,
    propertyList([
      ['Stored, trash included', `${formatCount(storedObjects, 'object')}, ${formatBytes(storedBytes)}`],
      ['Uploaded', sum('arrived')], ['Requested for download', sum('requested')], ['Deleted permanently', sum('deleted')],
    ]),
    h('p', { class: 'hint' }, `All but the stored objects are those of the last ${statisticsDays} days. `,
      h('a', { href: inOrganization('#/overview', organization) }, 'Overview of the organization')))
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

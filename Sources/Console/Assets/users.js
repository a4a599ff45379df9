import { call } from './api.js'
import { badge, button, h, nameText, pageHeader, showNotice } from './dom.js'
import { showFormDialog, showSecret } from './dialog.js'
import { timeElement } from './format.js'
import { moreMenu } from './more-menu.js'
import { pagedTable } from './table.js'

const sessionsText = 'The user’s existing sessions will be signed out.'
const roles = [
  ['viewer', 'viewer: lists and downloads objects'], ['operator', 'operator: also manages devices and keys'],
  ['admin', 'admin: manages everything in the organization'],
  ['member', 'member: uses apps beside the gateway, and cannot use the gateway itself'],
]
const passwordField = {
  name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', minlength: 8, required: true,
  hint: 'At least 8 characters.',
}

const secondFactors = {
  SECOND_FACTOR_STATE_ON: ['on', 'good'], SECOND_FACTOR_STATE_OFF: ['off', ''], SECOND_FACTOR_STATE_MISSING: ['missing', 'bad'],
}

/** Shows the organization's users and open invitations, with buttons to change and delete them. */
export async function renderUsers(body, { reload }) {
  const runAction = async (method, message, notice, service = 'users') => {
    await call(service, method, message)
    showNotice(notice)
    await reload()
  }
  const { policy = {} } = await call('identities', 'GetSignInPolicy')
  body.replaceChildren(
    pageHeader('Users', button('Invite', () => invite(reload), 'primary'), button('New user', () => createUser(runAction))),
    signInPolicy(policy, reload),
    pagedTable([
      { title: 'User', cell: (user) => nameText(user.userName) },
      { title: 'Role', cell: (user) => badge(user.role) },
      { title: 'Second factor', cell: (user) => (user.role === 'service' ? null : badge(...secondFactors[user.secondFactor] ?? ['unknown'])) },
      { title: 'Last sign-in', cell: (user) => timeElement(user.lastLoginAt, { isShort: true }) ?? 'never' },
      { title: 'Created', cell: (user) => timeElement(user.createdAt, { isShort: true }) },
      { title: '', isActions: true, cell: (user) => [
        user.role !== 'service' && button('Change role', () => setRole(user, runAction)),
        moreMenu(user.role !== 'service' && button('Set password', () => setPassword(user, runAction)),
          user.role !== 'service' && button('Reset second factor', () => resetSecondFactor(user, runAction)),
          button('Delete', () => deleteUser(user, runAction), 'danger')),
      ] },
    ], async (pageToken) => {
      const { users = [], nextPageToken } = await call('users', 'ListUsers', { pageSize: 100, pageToken })
      return { rows: users, next: nextPageToken }
    }, 'No users.'),
    h('div', { class: 'page-header' }, h('h2', {}, 'Open invitations')), invitationTable(runAction))
}

/** Whether the organization's users need a second factor, with the button that changes it. */
function signInPolicy({ requiresSecondFactor: isRequired = false }, reload) {
  const set = (requiresSecondFactor) => showFormDialog({
    title: requiresSecondFactor ? 'Require a second factor?' : 'Accept a password alone?', submit: 'Save',
    text: requiresSecondFactor
      ? 'Users who signed in with a password alone can only set up a second factor.'
      : 'Users without a second factor can use the gateway again.',
    action: async () => {
      await call('identities', 'SetSignInPolicy', { policy: { requiresSecondFactor } })
      showNotice('The sign-in policy was saved.')
      await reload()
    },
  })
  return h('p', {},
    isRequired ? 'Every user of the organization needs a second factor. ' : 'A second factor is each user’s own choice. ',
    button(isRequired ? 'Accept a password alone' : 'Require a second factor', () => set(!isRequired)))
}

function invitationTable(runAction) {
  return pagedTable([
    { title: 'User', cell: (invitation) => nameText(invitation.userName) },
    { title: 'Role', cell: (invitation) => badge(invitation.role) },
    { title: 'Inviter', cell: (invitation) => nameText(invitation.invitedBy) },
    { title: 'Expires', cell: (invitation) => timeElement(invitation.expiredAt, { isShort: true }) },
    { title: '', isActions: true, cell: (invitation) => button('Withdraw', () => withdrawInvitation(invitation, runAction), 'danger') },
  ], async (pageToken) => {
    const { invitations = [], nextPageToken } = await call('invitations', 'ListInvitations', { pageSize: 100, pageToken })
    return { rows: invitations, next: nextPageToken }
  }, 'No open invitations.')
}

async function invite(reload) {
  let created
  await showFormDialog({
    title: 'Invite a user', submit: 'Create link',
    text: 'You get a link to hand over. Whoever opens it first chooses the password.',
    fields: [
      { name: 'userName', label: 'User name', required: true, autocapitalize: 'none', autocomplete: 'off' },
      { name: 'role', label: 'Role', type: 'select', options: roles },
    ],
    action: async (message) => { created = await call('invitations', 'CreateInvitation', message) },
  })
  if (!created) return
  await showInvitation(created)
  await reload()
}

/** Shows the link of an invitation; without a configured address it begins with the one of this page. */
function showInvitation({ invitation, token, link }) {
  const address = link || `${location.origin}/console/#/invitation/${token}`
  return showSecret(`Invitation of ${invitation.userName}`, address,
    ['Copy the link now: it is shown only once. It works once, until ', timeElement(invitation.expiredAt), '.'])
}

function withdrawInvitation({ invitationId, userName }, runAction) {
  return showFormDialog({
    title: `Withdraw the invitation of “${userName}”?`, submit: 'Withdraw', isDangerous: true,
    text: 'The link stops working with the next call.',
    action: () => runAction('WithdrawInvitation', { invitationId }, `The invitation of “${userName}” was withdrawn.`, 'invitations'),
  })
}

function createUser(runAction) {
  return showFormDialog({
    title: 'New user',
    fields: [
      { name: 'userName', label: 'User name', required: true, autocapitalize: 'none', autocomplete: 'off' },
      passwordField, { name: 'role', label: 'Role', type: 'select', options: roles },
    ],
    submit: 'Create',
    action: (message) => runAction('CreateUser', message, `User “${message.userName}” was created.`),
  })
}

function setRole({ userName, role }, runAction) {
  return showFormDialog({
    title: `Change role of user “${userName}”`, text: sessionsText, submit: 'Change role',
    fields: [{ name: 'role', label: 'Role', type: 'select', options: roles, value: role }],
    action: (message) => runAction('UpdateUser', { userName, ...message },
      `User “${userName}” now has the role ${message.role}.`),
  })
}

function setPassword({ userName }, runAction) {
  return showFormDialog({
    title: `Set password of user “${userName}”`, text: sessionsText, submit: 'Set password',
    fields: [passwordField],
    action: (message) => runAction('UpdateUser', { userName, ...message },
      `The password of user “${userName}” was changed.`),
  })
}

function resetSecondFactor({ userName }, runAction) {
  return showFormDialog({
    title: `Reset second factor of user “${userName}”?`, submit: 'Reset', isDangerous: true,
    text: 'The user’s authenticator app and recovery codes are no longer valid. The password alone signs the user in.',
    action: () => runAction('ResetSecondFactor', { userName }, `The second factor of user “${userName}” was reset.`,
      'identities'),
  })
}

function deleteUser({ userName }, runAction) {
  return showFormDialog({
    title: `Delete user “${userName}”?`, submit: 'Delete', isDangerous: true,
    text: `${sessionsText} The user cannot sign in again.`,
    action: () => runAction('DeleteUser', { userName }, `User “${userName}” was deleted.`),
  })
}

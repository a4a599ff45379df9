import { call } from './api.js'
import { badge, button, pageHeader, showNotice } from './dom.js'
import { showFormDialog } from './dialog.js'
import { timeElement } from './format.js'
import { table } from './table.js'

const roles = [
  ['viewer', 'viewer: lists and downloads'], ['operator', 'operator: devices and keys, too'],
  ['admin', 'admin: everything in the organization'],
]
const passwordField = {
  name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', minlength: 8, required: true,
  hint: '8 bytes or more.',
}

/** Who may sign in, and what they may. */
export async function renderUsers(body, { reload }) {
  const { users = [] } = await call('users', 'ListUsers')
  const runAction = async (method, message, notice) => {
    await call('users', method, message)
    showNotice(notice)
    await reload()
  }
  body.replaceChildren(
    pageHeader('Users', button('New user', () => createUser(runAction), 'primary')),
    table([
      { title: 'User', cell: (user) => user.userName },
      { title: 'Role', cell: (user) => badge(user.role) },
      { title: 'Last sign-in', cell: (user) => timeElement(user.lastLoginAt) ?? 'never' },
      { title: 'Since', cell: (user) => timeElement(user.createdAt) },
      { title: '', isActions: true, cell: (user) => [
        user.role !== 'service' && button('Role', () => setRole(user, runAction)),
        user.role !== 'service' && button('Password', () => setPassword(user, runAction)),
        button('Delete', () => deleteUser(user, runAction), 'danger'),
      ] },
    ], users, 'There is nobody.'))
}

function createUser(runAction) {
  return showFormDialog({
    title: 'New user',
    fields: [
      { name: 'userName', label: 'Name', required: true, autocapitalize: 'none', autocomplete: 'off' },
      password, { name: 'role', label: 'Role', type: 'select', options: roles },
    ],
    submit: 'Create',
    action: (message) => runAction('CreateUser', message, `${message.userName} may sign in.`),
  })
}

function setRole({ userName, role }, runAction) {
  return showFormDialog({
    title: `Role of ${userName}`, text: 'Who is signed in has to sign in again.', submit: 'Save',
    fields: [{ name: 'role', label: 'Role', type: 'select', options: roles, value: role }],
    action: (message) => runAction('UpdateUser', { userName, ...message }, `${userName} is ${message.role}.`),
  })
}

function setPassword({ userName }, runAction) {
  return showFormDialog({
    title: `New password of ${userName}`, text: 'Who is signed in has to sign in again.', submit: 'Save',
    fields: [password],
    action: (message) => runAction('UpdateUser', { userName, ...message }, `${userName} has a new password.`),
  })
}

function deleteUser({ userName }, runAction) {
  return showFormDialog({
    title: `Delete ${userName}?`, submit: 'Delete', isDangerous: true,
    action: () => runAction('DeleteUser', { userName }, `${userName} is deleted.`),
  })
}

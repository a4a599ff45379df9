import { call } from './api.js'
import { badge, button, notify, pageHead } from './dom.js'
import { formDialog } from './dialog.js'
import { time } from './format.js'
import { table } from './table.js'

const roles = [
  ['viewer', 'viewer: lists and downloads'], ['operator', 'operator: devices and keys, too'],
  ['admin', 'admin: everything in the organization'],
]
const password = {
  name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', minlength: 8, required: true,
  hint: '8 bytes or more.',
}

/** Who may sign in, and what they may. */
export async function renderUsers(body, { reload }) {
  const { users = [] } = await call('users', 'ListUsers')
  const act = async (method, message, done) => {
    await call('users', method, message)
    notify(done)
    await reload()
  }
  body.replaceChildren(
    pageHead('Users', button('New user', () => create(act), 'primary')),
    table([
      { title: 'User', cell: (user) => user.userName },
      { title: 'Role', cell: (user) => badge(user.role) },
      { title: 'Last sign-in', cell: (user) => time(user.lastLoginAt) ?? 'never' },
      { title: 'Since', cell: (user) => time(user.createdAt) },
      { title: '', isActions: true, cell: (user) => [
        user.role !== 'service' && button('Role', () => setRole(user, act)),
        user.role !== 'service' && button('Password', () => setPassword(user, act)),
        button('Delete', () => remove(user, act), 'danger'),
      ] },
    ], users, 'There is nobody.'))
}

function create(act) {
  return formDialog({
    title: 'New user',
    fields: [
      { name: 'userName', label: 'Name', required: true, autocapitalize: 'none', autocomplete: 'off' },
      password, { name: 'role', label: 'Role', type: 'select', options: roles },
    ],
    submit: 'Create',
    action: (message) => act('CreateUser', message, `${message.userName} may sign in.`),
  })
}

function setRole({ userName, role }, act) {
  return formDialog({
    title: `Role of ${userName}`, text: 'Who is signed in has to sign in again.', submit: 'Save',
    fields: [{ name: 'role', label: 'Role', type: 'select', options: roles, value: role }],
    action: (message) => act('UpdateUser', { userName, ...message }, `${userName} is ${message.role}.`),
  })
}

function setPassword({ userName }, act) {
  return formDialog({
    title: `New password of ${userName}`, text: 'Who is signed in has to sign in again.', submit: 'Save',
    fields: [password],
    action: (message) => act('UpdateUser', { userName, ...message }, `${userName} has a new password.`),
  })
}

function remove({ userName }, act) {
  return formDialog({
    title: `Delete ${userName}?`, submit: 'Delete', isDangerous: true,
    action: () => act('DeleteUser', { userName }, `${userName} is deleted.`),
  })
}

import { call, hasRole, isSystemUser, session } from './api.js'
import { alertMessage, badge, button, h, nameText, pageHeader, propertyList, showNotice } from './dom.js'
import { formField, showFormDialog, showSecret } from './dialog.js'
import { formatCount, timeElement } from './format.js'
import { drawQR } from './qr.js'
import { table } from './table.js'
import { chosenTheme, chooseTheme, themes } from './theme.js'
import { programName } from './user-agent.js'

const codeField = {
  name: 'code', label: 'Code', required: true, autocomplete: 'one-time-code', spellcheck: 'false',
  hint: 'The code that your authenticator app shows, or a recovery code.',
}
const currentPasswordField = {
  name: 'currentPassword', label: 'Current password', type: 'password', required: true,
  autocomplete: 'current-password',
}

/** Shows the signed-in user's own account: password, second factor, sessions and API tokens. */
export async function renderAccount(body, { reload }) {
  const account = await call('account', 'GetAccount')
  const { sessions = [] } = await call('sessions', 'ListSessions')
  body.replaceChildren(
    pageHeader('My account', account.hasPassword && button('Change password', () => changePassword(reload))),
    account.secondFactorMissing
      ? alertMessage('Your organization requires a second factor. Set one up to continue.') : '',
    propertyList([
      ['User', account.user.userName], ['Organization', account.user.organization], ['Role', account.user.role],
      ['Second factor', secondFactorText(account)],
    ]),
    secondFactorActions(account, reload), themeChoice(),
    sectionHeader('Sessions', sessions.length > 1 && button('End all others', () => revokeOthers(reload), 'danger')),
    sessionTable(sessions, reload))
  if (account.secondFactorMissing) return
  const { apiTokens = [] } = await call('tokens', 'ListApiTokens')
  body.append(
    sectionHeader('API tokens', button('New token', () => createToken(reload), 'primary')),
    tokenTable(apiTokens, reload))
}

/** The choice of the colors in this browser. */
function themeChoice() {
  return h('div', { class: 'filters', onchange: ({ target }) => chooseTheme(target.value) },
    formField({ name: 'theme', label: 'Colors in this browser', type: 'select', value: chosenTheme(), options: themes }))
}

function sectionHeader(title, ...actions) {
  return h('div', { class: 'page-header' }, h('h2', {}, title), h('div', { class: 'actions' }, ...actions))
}

function secondFactorText({ hasSecondFactor, recoveryCodesLeft = 0, hasPassword }) {
  if (hasSecondFactor) {
    return [badge('on', 'good'), ` ${formatCount(recoveryCodesLeft, 'recovery code')} left`]
  }
  return hasPassword ? badge('off', 'bad') : 'set at your identity provider'
}

function secondFactorActions({ hasSecondFactor, hasPassword }, reload) {
  if (!hasPassword) return ''
  if (!hasSecondFactor) {
    return h('p', {}, button('Set up second factor', () => setUpSecondFactor(reload), 'primary'))
  }
  return h('p', {}, button('New recovery codes', () => replaceRecoveryCodes(reload)), ' ',
    button('Turn off second factor', () => removeSecondFactor(reload), 'danger'))
}

function changePassword(reload) {
  return showFormDialog({
    title: 'Change password', submit: 'Change password', text: 'Your other sessions will be signed out.',
    fields: [currentPasswordField, {
      name: 'newPassword', label: 'New password', type: 'password', autocomplete: 'new-password', minlength: 8,
      required: true, hint: 'At least 8 characters.',
    }],
    action: async (message) => {
      await call('account', 'ChangePassword', message)
      showNotice('Your password was changed.')
      await reload()
    },
  })
}

async function setUpSecondFactor(reload) {
  let app
  await showFormDialog({
    title: 'Set up second factor', submit: 'Continue',
    fields: [currentPasswordField],
    action: async ({ currentPassword }) => {
      app = await call('account', 'EnrollSecondFactor', { password: currentPassword })
    },
  })
  if (app) await confirmSecondFactor(app, reload)
}

/** Sets up a second factor for somebody who has just chosen the password. */
export async function setUpFirstSecondFactor(password, reload) {
  await confirmSecondFactor(await call('account', 'EnrollSecondFactor', { password }), reload)
}

async function confirmSecondFactor(app, reload) {
  let codes
  await showFormDialog({
    title: 'Scan the code with your authenticator app', submit: 'Turn on',
    content: [
      h('div', { class: 'qr' }, drawQR(app.otpauthUri, 'Secret for the authenticator app')),
      formField({ name: 'secret', label: 'Secret', value: app.secret, readonly: true,
        hint: 'For apps that cannot scan the code.' }),
    ],
    fields: [{ ...codeField, hint: 'The code that the app shows now.' }],
    action: async ({ code }) => {
      codes = (await call('account', 'ConfirmSecondFactor', { code: code.trim() })).recoveryCodes
    },
  })
  if (!codes) return
  await showRecoveryCodes(codes)
  await reload()
}

function showRecoveryCodes(codes) {
  return showSecret('Recovery codes', codes.join('\n'),
    'Keep these codes where you keep passwords: they are shown only once. Each is valid for one sign-in without the app.',
    { rows: codes.length, fileName: `recovery-codes-${session.user.userName}.txt` })
}

async function replaceRecoveryCodes(reload) {
  let codes
  await showFormDialog({
    title: 'New recovery codes', submit: 'Replace', text: 'Your earlier recovery codes will no longer be valid.',
    fields: [codeField],
    action: async ({ code }) => {
      codes = (await call('account', 'ReplaceRecoveryCodes', { code: code.trim() })).recoveryCodes
    },
  })
  if (!codes) return
  await showRecoveryCodes(codes)
  await reload()
}

function removeSecondFactor(reload) {
  return showFormDialog({
    title: 'Turn off second factor?', submit: 'Turn off', isDangerous: true,
    text: 'Your password alone will sign you in.', fields: [codeField],
    action: async ({ code }) => {
      await call('account', 'RemoveSecondFactor', { code: code.trim() })
      showNotice('The second factor is off.')
      await reload()
    },
  })
}

function sessionTable(sessions, reload) {
  return table([
    { title: 'Program', cell: ({ userAgent, isCurrent }) => [
      h('span', { title: userAgent }, programName(userAgent || 'unknown')), isCurrent && [' ', badge('this session')]] },
    { title: 'Address', cell: (each) => h('span', { class: 'id' }, each.address || 'unknown') },
    { title: 'Signed in', cell: (each) => timeElement(each.createdAt) },
    { title: 'Last used', cell: (each) => timeElement(each.lastUsedAt) },
    { title: '', isActions: true, cell: (each) => !each.isCurrent && button('End', async () => {
      await call('sessions', 'RevokeSession', { sessionId: each.sessionId })
      showNotice('The session was ended.')
      await reload()
    }, 'danger') },
  ], sessions, 'No sessions.')
}

function revokeOthers(reload) {
  return showFormDialog({
    title: 'End all other sessions?', submit: 'End all others', isDangerous: true,
    text: 'Every other browser and program in which you are signed in will be signed out. API tokens stay valid.',
    action: async () => {
      const { revokedCount = 0 } = await call('sessions', 'RevokeOtherSessions')
      showNotice(`${formatCount(revokedCount, 'session')} ended.`)
      await reload()
    },
  })
}

function tokenTable(tokens, reload) {
  return table([
    { title: 'Token', cell: (token) => nameText(token.tokenName) },
    { title: 'Role', cell: (token) => badge(token.role) },
    { title: 'Organizations', cell: (token) => (token.organizations ?? []).join(', ') || 'all of yours' },
    { title: 'Expires', cell: (token) => timeElement(token.expiredAt) },
    { title: 'Last used', cell: (token) => timeElement(token.lastUsedAt) ?? 'never' },
    { title: 'From', cell: (token) => token.lastUsedAddress || null },
    { title: '', isActions: true, cell: (token) => button('Revoke', () => revokeToken(token, reload), 'danger') },
  ], tokens, 'No API tokens.')
}

async function createToken(reload) {
  const roles = ['viewer', 'operator', 'admin'].filter(hasRole).map((role) => [role, role])
  let token
  await showFormDialog({
    title: 'New API token', submit: 'Create',
    text: 'For programs such as CI jobs: they send it as “authorization: Bearer TOKEN”.',
    fields: [
      { name: 'tokenName', label: 'Name', required: true, autocomplete: 'off' },
      { name: 'role', label: 'Role', type: 'select', options: roles },
      { name: 'days', label: 'Days until it expires', type: 'number', value: '30', min: 1, max: 366, required: true },
      isSystemUser() && { name: 'organizations', label: 'Organizations', autocomplete: 'off',
        hint: 'Names separated by commas; empty for all.' },
    ].filter(Boolean),
    action: async ({ tokenName, role, days, organizations = '' }) => {
      const expiredAt = new Date(Date.now() + Number(days) * 86_400_000 - 60_000).toISOString();
      ({ token } = await call('tokens', 'CreateApiToken', {
        tokenName, role, expiredAt,
        organizations: organizations.split(',').map((name) => name.trim()).filter(Boolean),
      }))
    },
  })
  if (!token) return
  await showSecret('API token', token,
    'Copy the token now: it is shown only once. Anyone who has it has your rights, limited to its role.')
  await reload()
}

function revokeToken({ tokenId, tokenName }, reload) {
  return showFormDialog({
    title: `Revoke token “${tokenName}”?`, submit: 'Revoke', isDangerous: true,
    text: 'Programs that use the token are refused from the next call on.',
    action: async () => {
      await call('tokens', 'RevokeApiToken', { tokenId })
      showNotice(`Token “${tokenName}” was revoked.`)
      await reload()
    },
  })
}

import { hasRole, session } from './api.js'
import { button, h, pageHeader } from './dom.js'

/** What a role is called in a sentence. */
function roleText(role) {
  return role === 'system admin' ? 'the role admin in the organization system' : `the role ${role}`
}

/** The way out of a page that cannot be shown: the overview, or another user for somebody who sees no page. */
function wayOut(signOut) {
  return h('div', { class: 'actions' },
    hasRole('viewer') && h('a', { href: '#/overview', class: 'button' }, 'Overview'),
    button('Sign in as another user', signOut))
}

/** Shows that the address names no page; the address stays as it is. */
export function renderMissingPage(body, signOut) {
  body.replaceChildren(pageHeader('This page does not exist'),
    h('p', { role: 'alert' }, 'The address ', h('code', {}, location.hash), ' names no page of the console. It may be cut off or '
      + 'mistyped.'),
    wayOut(signOut))
}

/** Shows that an address is for another organization than the user's. */
export function renderForeignPage(body, organization, signOut) {
  const { organization: own, userName } = session.user
  body.replaceChildren(pageHeader('Another organization'),
    h('p', { role: 'alert' }, `This address opens in the organization ${organization}. You are signed in to ${own} as ${userName}.`),
    wayOut(signOut))
}

/** Shows which role a page needs; the address stays as it is, so that it works for another user. */
export function renderForbiddenPage(body, { title, role }, signOut) {
  const { organization, userName, role: own } = session.user
  const isMember = own === 'member'
  body.replaceChildren(pageHeader(isMember ? 'No access to the console' : title),
    h('p', { role: 'alert' }, isMember
      ? 'Your user has the role member, which is for the apps beside the gateway. The console needs the role viewer or a higher one.'
      : `You need ${roleText(role)} to see this page.`),
    h('p', { class: 'hint' }, `You are signed in to ${organization} as ${userName}, with the role ${own}. An admin of the organization can `
      + 'change your role.'),
    wayOut(signOut))
}

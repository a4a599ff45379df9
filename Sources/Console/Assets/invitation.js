/** The page of an invitation, `#/invitation/TOKEN`: somebody who was invited chooses a password, and is signed in. */

import { acceptInvitation, getInvitation, session, signIn } from './api.js'
import { formField } from './dialog.js'
import { alertMessage, button, h, pageHeader } from './dom.js'
import { timeElement } from './format.js'
import { rememberSignIn, renderSignIn } from './sign-in.js'

/** Returns the token of an invitation in an address; `null` if it is another address. */
export function invitationToken(address) {
  return /^#\/invitation\/([^/?]+)/.exec(address)?.[1] ?? null
}

/** Removes the invitation from the address, so that the browser's history does not keep the token. */
export function forgetInvitation(address = '#/') {
  history.replaceState(history.state, '', address)
}

/**
 * Shows an invitation to nobody in particular. `joined({password, wantsSecondFactor})` is called when its user is signed in; `leave(reason)`
 * shows the sign-in.
 */
export async function renderInvitation(container, token, joined) {
  document.title = 'Invitation · data-gateway'
  const leave = (reason = '') => {
    forgetInvitation()
    renderSignIn(container, reason, joined)
  }
  const frame = h('div', { class: 'sign-in' }, h('h1', {}, 'Invitation'), h('p', { class: 'empty' }, 'Loading…'))
  container.replaceChildren(frame)
  try {
    showForm(container, token, await getInvitation(token), joined, leave)
  } catch (error) {
    frame.replaceChildren(h('h1', {}, 'Invitation'), alertMessage(error.message), button('Sign in', () => leave(), 'wide'))
  }
}

function showForm(container, token, { invitation, secondFactorRequired = false }, joined, leave) {
  const { organization, userName, role, invitedBy } = invitation
  const inviter = invitation.invitedByOrganization === organization ? invitedBy : `${invitedBy} of ${invitation.invitedByOrganization}`
  const errorArea = h('div', {})
  const submitButton = h('button', { type: 'submit', class: 'primary wide' }, 'Join')
  const password = { type: 'password', autocomplete: 'new-password', minlength: 8, required: true }
  const form = h('form', { class: 'sign-in', method: 'post' },
    h('h1', {}, `Join ${organization}`),
    h('p', {}, `${inviter} invites you to the organization ${organization}, with the role ${role}.`),
    formField({ name: 'userName', label: 'User name', value: userName, readonly: true, autocomplete: 'username' }),
    formField({ ...password, name: 'password', label: 'Password', hint: 'At least 8 characters.' }),
    formField({ ...password, name: 'repeated', label: 'Repeat password' }),
    secondFactorChoice(role, secondFactorRequired),
    errorArea, submitButton,
    h('p', { class: 'hint' }, 'The invitation works once, until ', timeElement(invitation.expiredAt), '.'))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    errorArea.replaceChildren()
    const { password: chosen, repeated, secondFactor } = Object.fromEntries(new FormData(form))
    if (chosen !== repeated) {
      errorArea.replaceChildren(alertMessage('The passwords differ.'))
      return form.elements.repeated.select()
    }
    submitButton.disabled = true
    try {
      await acceptInvitation(token, chosen)
      forgetInvitation()
    } catch (error) {
      errorArea.replaceChildren(alertMessage(error.message))
      submitButton.disabled = false
      return undefined
    }
    rememberSignIn(organization, userName)
    try {
      await signIn({ organization, userName, password: chosen })
    } catch (error) {
      return leave(`Your user was created. ${error.message}`)
    }
    return joined({ password: chosen, wantsSecondFactor: secondFactorRequired || secondFactor === 'true' })
  })
  container.replaceChildren(form)
  form.elements.password.focus()
}

/** The choice to set up a second factor; a member cannot use the console to do so. */
function secondFactorChoice(role, isRequired) {
  if (role === 'member') return null
  if (isRequired) return h('p', { class: 'hint' }, 'The organization requires a second factor: have your authenticator app at hand.')
  return formField({ name: 'secondFactor', label: 'Set up a second factor', type: 'checkbox', value: true,
    hint: 'With an authenticator app, a password alone opens nothing.' })
}

/** Says that somebody is signed in in this browser, while an invitation is for somebody else. */
export function renderForeignInvitation(body, signOut) {
  const { organization, userName } = session.user
  body.replaceChildren(pageHeader('Invitation'),
    h('p', { role: 'alert' }, `You are signed in to ${organization} as ${userName}. Sign out first to accept the invitation as another user.`),
    h('div', { class: 'actions' }, button('Sign out', signOut, 'primary'),
      h('a', { href: '#/overview', class: 'button' }, 'Overview')))
}

/** The end of the session: a warning before it, and a sign-in over the page after it. */

import { checkSession, session } from './api.js'
import { button, h } from './dom.js'
import { timeTexts } from './format.js'
import { renderSignIn } from './sign-in.js'
import { browserZone } from './time-zone.js'

/** Time before the end at which the page warns, and the time between two looks during a warning, in seconds. */
const [warningTime, lookInterval] = [300, 15]
/** The longest time of a timer, in seconds. */
const longestTimer = 86_400

let banner = null
let timer = null
let dialog = null

/** Watches the time that the session has left; called after each sign-in. */
export function watchSession() {
  clearTimeout(timer)
  hideWarning()
  schedule()
}

/** The time until the session ends in seconds, as far as the page knows: calls have prolonged it meanwhile. */
function secondsLeft() {
  const { secondsLeft: total, idleSecondsLeft: idle, checkedAt } = session
  return Math.min(total, idle) - (Date.now() - checkedAt) / 1000
}

function schedule() {
  const pause = banner ? lookInterval : Math.min(longestTimer, Math.max(1, secondsLeft() - warningTime))
  timer = setTimeout(look, pause * 1000)
}

async function look() {
  if (!session) return
  if (secondsLeft() > warningTime) return watchSession()
  try {
    await checkSession({ isBackground: true })
  } catch {
    // The gateway cannot be reached now.
  }
  if (!session) return
  if (secondsLeft() > warningTime) hideWarning()
  else showWarning()
  schedule()
}

function showWarning() {
  hideWarning()
  const canStay = session.idleSecondsLeft < session.secondsLeft
  const { iso, brief } = timeTexts(Date.now() / 1000 + secondsLeft(), browserZone)
  const time = h('time', { datetime: iso }, brief)
  banner = h('aside', { class: 'ending', 'aria-label': 'End of the session' },
    h('p', { role: 'status' }, 'Your session ends at ', time, canStay ? ', because it is not used.' : ', some hours after the sign-in.'),
    canStay ? button('Stay signed in', stay) : button('Sign in again', () => signInAgain('', { isRequired: false })))
  document.body.prepend(banner)
}

function hideWarning() {
  banner?.remove()
  banner = null
}

async function stay() {
  await checkSession({ isBackground: false })
  watchSession()
}

/**
 * Asks over the page for a sign-in. `isRequired`: whether the session has ended, so that the dialog stays until somebody signs in, or signs
 * out by `leave()`.
 */
export function signInAgain(reason, { isRequired = true, leave = () => {} } = {}) {
  if (dialog && !isRequired) return
  dialog?.remove()
  if (isRequired) hideWarning()
  const area = h('div', {})
  const own = h('dialog', { class: 'sign-in-again', 'aria-labelledby': 'sign-in-again' }, area,
    isRequired && h('p', { class: 'hint' }, 'The page stays as it is. Uploads continue after the sign-in.'),
    h('div', { class: 'dialog-actions' }, isRequired ? button('Sign out', leave) : button('Cancel', () => endSignIn())))
  dialog = own
  own.addEventListener('cancel', (event) => { if (isRequired) event.preventDefault() })
  own.addEventListener('close', () => {
    if (dialog !== own) return
    if (isRequired) own.showModal()
    else endSignIn()
  })
  document.body.append(own)
  own.showModal()
  const { organization, userName } = session.user
  renderSignIn(area, reason, () => {}, { title: 'Sign in again', titleID: 'sign-in-again', organization, userName })
}

/** Removes the dialog, because somebody has signed in or out. */
export function endSignIn() {
  const own = dialog
  dialog = null
  own?.remove()
}

import { signIn } from './api.js'
import { alertBox, h } from './dom.js'
import { fieldRow } from './dialog.js'

/** The page for somebody who is not signed in. */
export function renderSignIn(main, reason, whenSignedIn) {
  document.title = 'Sign in · data-gateway'
  const problem = h('div', {}, reason && alertBox(reason))
  const done = h('button', { type: 'submit', class: 'primary wide' }, 'Sign in')
  const form = h('form', { class: 'sign-in', method: 'post' },
    h('h1', {}, 'data-gateway'),
    fieldRow({ name: 'organization', label: 'Organization', value: 'system', required: true, autocapitalize: 'none',
      autocomplete: 'organization', spellcheck: 'false' }),
    fieldRow({ name: 'userName', label: 'User', required: true, autocapitalize: 'none', autocomplete: 'username',
      spellcheck: 'false' }),
    fieldRow({ name: 'password', label: 'Password', type: 'password', required: true,
      autocomplete: 'current-password' }),
    problem, done)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    done.disabled = true
    problem.replaceChildren()
    const { organization, userName, password } = Object.fromEntries(new FormData(form))
    try {
      await signIn(organization.trim(), userName.trim(), password)
      whenSignedIn()
    } catch (error) {
      problem.replaceChildren(alertBox(error.message))
      form.elements.password.select()
    } finally {
      done.disabled = false
    }
  })
  main.replaceChildren(form)
  form.elements.userName.focus()
}

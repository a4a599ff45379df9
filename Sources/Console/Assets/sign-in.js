import { listProviders, signIn, startProviderSignIn } from './api.js'
import { alertMessage, button, h } from './dom.js'
import { formField } from './dialog.js'

const lastSignInKey = 'console-last-sign-in'

/** The organization and the user of the last sign-in in this browser, `{organization, userName}`. */
function lastSignIn() {
  try {
    return JSON.parse(localStorage.getItem(lastSignInKey)) ?? {}
  } catch {
    return {}
  }
}

/** Remembers who has signed in in this browser. */
export function rememberSignIn(organization, userName) {
  localStorage.setItem(lastSignInKey, JSON.stringify({ organization, userName }))
}

/**
 * Shows the sign-in page. `reason` says why the last session ended; it is empty without an earlier session. `again`, `{title, titleID,
 * organization, userName}`: in a dialog over the page of the user, who signs in again.
 */
export function renderSignIn(container, reason, signedInHandler, again = null) {
  if (!again) document.title = 'Sign in · data-gateway'
  const last = again ?? lastSignIn()
  const errorArea = h('div', {}, reason && alertMessage(reason))
  const submitButton = h('button', { type: 'submit', class: 'primary wide' }, 'Sign in')
  const form = h('form', { class: 'sign-in', method: 'post' },
    again ? h('h2', { id: again.titleID }, again.title) : h('h1', {}, 'data-gateway'),
    formField({ name: 'organization', label: 'Organization', value: last.organization ?? 'system', required: true, autocapitalize: 'none',
      autocomplete: 'organization', spellcheck: 'false' }),
    formField({ name: 'userName', label: 'User name', value: last.userName ?? '', required: true, autocapitalize: 'none', autocomplete: 'username',
      spellcheck: 'false' }),
    formField({ name: 'password', label: 'Password', type: 'password', required: true,
      autocomplete: 'current-password' }),
    errorArea, submitButton)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    submitButton.disabled = true
    errorArea.replaceChildren()
    const { organization, userName, password } = Object.fromEntries(new FormData(form))
    const remember = () => rememberSignIn(organization.trim(), userName.trim())
    try {
      await signIn({ organization: organization.trim(), userName: userName.trim(), password })
      remember()
      signedInHandler()
    } catch (error) {
      if (error.detail?.code === 'AUTH_SECOND_FACTOR_REQUIRED') {
        remember()
        return renderSecondStep(container, error.detail.challenge, signedInHandler, again)
      }
      errorArea.replaceChildren(alertMessage(error.message))
      form.elements.password.select()
    } finally {
      submitButton.disabled = false
    }
  })
  const providerArea = h('div', { class: 'providers' })
  form.append(providerArea)
  container.replaceChildren(form)
  form.elements[last.userName ? 'password' : 'userName'].focus()
  showProviders(providerArea, errorArea, again)
}

/**
 * Adds a button for each identity provider. Without them, people can still sign in with a password. Over a page, the provider opens in
 * another tab, whose sign-in this one follows.
 */
async function showProviders(area, errorArea, again) {
  let providers = []
  try {
    providers = await listProviders()
  } catch {
    return
  }
  area.replaceChildren(...providers.map(({ name, title }) =>
    button(`Sign in with ${title}`, async () => {
      errorArea.replaceChildren()
      // Opened at once, since browsers block a tab that a press did not open.
      const tab = again ? open('about:blank') : window
      try {
        await startProviderSignIn(name, tab)
      } catch (error) {
        if (again) tab?.close()
        errorArea.replaceChildren(alertMessage(error.message))
      }
    }, 'wide')))
}

/** Shows the second step of a sign-in, which asks for the code of an authenticator app. */
function renderSecondStep(container, challenge, signedInHandler, again) {
  const errorArea = h('div', {})
  const submitButton = h('button', { type: 'submit', class: 'primary wide' }, 'Continue')
  const form = h('form', { class: 'sign-in', method: 'post' },
    again ? h('h2', { id: again.titleID }, 'Second factor') : h('h1', {}, 'Second factor'),
    formField({ name: 'code', label: 'Code', required: true, autocomplete: 'one-time-code', spellcheck: 'false',
      autocapitalize: 'none', hint: 'The code that your authenticator app shows, or a recovery code.' }),
    errorArea, submitButton,
    h('button', { type: 'button', class: 'wide', onclick: () => renderSignIn(container, '', signedInHandler, again) },
      'Back'))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    submitButton.disabled = true
    errorArea.replaceChildren()
    try {
      await signIn({ challenge, code: form.elements.code.value.trim() })
      signedInHandler()
    } catch (error) {
      errorArea.replaceChildren(alertMessage(error.message))
      form.elements.code.select()
    } finally {
      submitButton.disabled = false
    }
  })
  container.replaceChildren(form)
  form.elements.code.focus()
}

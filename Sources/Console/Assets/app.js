import * as api from './api.js'
import { renderAudit } from './audit.js'
import { renderBackup } from './backup.js'
import { renderBadObjects } from './bad-objects.js'
import { renderDevice } from './device.js'
import { renderDevices } from './devices.js'
import { closeDialogs } from './dialog.js'
import { alertBox, button, h, pageHead } from './dom.js'
import { renderKeys } from './keys.js'
import { renderObject } from './object.js'
import { renderObjects } from './objects.js'
import { renderOverview } from './overview.js'
import { renderSignIn } from './sign-in.js'
import { renderUploads } from './uploads.js'
import { renderUsers } from './users.js'

/** The pages in the order of the navigation; `role`: who sees them. The server asks again at each call. */
const pages = [
  { name: 'overview', title: 'Overview', role: 'viewer', render: renderOverview },
  { name: 'devices', title: 'Devices', role: 'operator', render: renderDevices },
  { name: 'uploads', title: 'Uploads', role: 'viewer', render: renderUploads },
  { name: 'objects', title: 'Objects', role: 'viewer', render: renderObjects },
  { name: 'bad-objects', title: 'Bad objects', role: 'admin', render: renderBadObjects },
  { name: 'keys', title: 'Sites and keys', role: 'operator', render: renderKeys },
  { name: 'users', title: 'Users', role: 'admin', render: renderUsers },
  { name: 'audit', title: 'Audit', role: 'admin', render: renderAudit },
  { name: 'backup', title: 'Backup', role: 'system admin', render: renderBackup },
]
/** Pages about one thing: `#/devices/261122-000001`. */
const details = { devices: renderDevice, objects: renderObject }

const bar = document.getElementById('bar')
const main = document.getElementById('content')
/** Ends what the page before still does. */
let leaving = new AbortController()

function signInAgain(reason) {
  leaving.abort()
  closeDialogs()
  bar.hidden = true
  renderSignIn(main, reason, begin)
}

async function signOut() {
  try {
    await api.signOut()
  } catch {
    // The browser has forgotten the session, whatever became of the gateway's.
  }
}

async function showPerson() {
  const { organization, userName, role } = api.session.user
  const person = document.getElementById('person')
  person.replaceChildren(
    h('span', { class: 'who', title: `${organization}/${userName}` }, userName, h('small', {}, ` ${role}`)),
    button('Sign out', signOut))
  if (!api.may('system admin')) return
  const { organizations = [] } = await api.call('admin', 'ListOrganizations', {}, { organization: '' })
  const names = organizations.map((each) => each.organization)
  if (names.length < 2) return
  const choice = h('select', { 'aria-label': 'Organization', onchange: () => {
    api.actFor(choice.value === organization ? '' : choice.value)
    show()
  } }, names.map((name) => h('option', { value: name, selected: name === (api.actingFor() || organization) }, name)))
  person.prepend(choice)
}

function showNavigation(current) {
  const seen = pages.filter((page) => api.may(page.role))
  document.getElementById('navigation').replaceChildren(...seen.map((page) =>
    h('a', { href: `#/${page.name}`, 'aria-current': page.name === current && 'page' }, page.title)))
  document.querySelector('nav [aria-current]').scrollIntoView({ block: 'nearest', inline: 'center' })
}

async function show() {
  if (!api.session) return
  leaving.abort()
  leaving = new AbortController()
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [name, part = ''] = path.split('/')
  const page = pages.find((each) => each.name === name && api.may(each.role)) ?? pages[0]
  showNavigation(page.name)
  const body = h('div', { class: 'page' })
  main.replaceChildren(body)
  try {
    const id = decodeURIComponent(part)
    const render = page.name === name && id && details[name] ? details[name] : page.render
    await render(body, { id, query: new URLSearchParams(query), signal: leaving.signal, reload: show })
  } catch (error) {
    if (api.session) body.replaceChildren(pageHead(page.title), alertBox(error.message))
  }
}

async function begin() {
  bar.hidden = false
  showPerson().catch(() => {})
  await show()
}

api.onSignedOut(signInAgain)
addEventListener('hashchange', async () => {
  closeDialogs()
  await show()
  main.focus({ preventScroll: true })
  scrollTo(0, 0)
})
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})

try {
  if (await api.resume()) await begin()
  else renderSignIn(main, '', begin)
} catch (error) {
  main.replaceChildren(alertBox(error.message))
}

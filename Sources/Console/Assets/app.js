import { renderAccount, setUpFirstSecondFactor } from './account.js'
import * as api from './api.js'
import { renderAudit } from './audit.js'
import { renderBackup } from './backup.js'
import { renderCopies, renderCopy } from './copies.js'
import { renderCorruptedObjects } from './corrupted-objects.js'
import { renderDevice } from './device.js'
import { renderDevices } from './devices.js'
import { closeDialogs, showFormDialog } from './dialog.js'
import { alertMessage, button, h, pageHeader, showNotice, svg } from './dom.js'
import { renderGateways } from './gateways.js'
import { forgetInvitation, invitationToken, renderForeignInvitation, renderInvitation } from './invitation.js'
import { renderKeys } from './keys.js'
import { renderForbiddenPage, renderForeignPage, renderMissingPage } from './missing-page.js'
import { showNavigation } from './navigation.js'
import { renderObject } from './object.js'
import { forgetLists, renderObjects } from './objects.js'
import { followAddress, organizationSelect, ownPageNote } from './organization-choice.js'
import { renderOrganizations } from './organizations.js'
import { renderOverview } from './overview.js'
import { renderRetention } from './retention.js'
import { endSignIn, signInAgain, watchSession } from './session-watch.js'
import { renderSettings } from './settings.js'
import { listenForShortcuts } from './shortcuts.js'
import { renderSignIn } from './sign-in.js'
import { renderSigningKeys } from './signing-keys.js'
import { renderStorage } from './storage.js'
import { renderSuites } from './suites.js'
import { applyTheme } from './theme.js'
import { renderTrash } from './trash.js'
import { watchUploads } from './upload-panel.js'
import { uploadQueue } from './upload-queue.js'
import { renderUploads } from './uploads.js'
import { renderUsers } from './users.js'
import { renderWebhook, renderWebhooks } from './webhooks.js'

/**
 * The pages in the order of the navigation; `role` is the lowest role that sees a page, and `isOwn` pages show one organization at a
 * time. The server checks access at every call.
 */
const sections = [
  { title: 'Overview', pages: [
    { name: 'overview', title: 'Overview', role: 'viewer', shortcut: 'o', render: renderOverview },
  ] },
  { title: 'Devices', pages: [
    { name: 'devices', title: 'Devices', role: 'operator', isOwn: true, shortcut: 'd', render: renderDevices },
    { name: 'suites', title: 'Suites', role: 'operator', isOwn: true, render: renderSuites },
    { name: 'keys', title: 'Sites and keys', role: 'operator', isOwn: true, render: renderKeys },
  ] },
  { title: 'Objects', pages: [
    { name: 'objects', title: 'Objects', role: 'viewer', shortcut: 'b', render: renderObjects },
    { name: 'uploads', title: 'Uploads', role: 'viewer', shortcut: 'u', render: renderUploads },
    { name: 'copies', title: 'Copy jobs', role: 'viewer', render: renderCopies },
    { name: 'storage', title: 'Storage', role: 'viewer', render: renderStorage },
    { name: 'trash', title: 'Trash', role: 'admin', shortcut: 't', render: renderTrash },
    { name: 'retention', title: 'Retention', role: 'admin', isOwn: true, render: renderRetention },
    { name: 'corrupted-objects', title: 'Corrupted objects', role: 'admin', render: renderCorruptedObjects },
  ] },
  { title: 'Administration', pages: [
    { name: 'users', title: 'Users', role: 'admin', isOwn: true, render: renderUsers },
    { name: 'webhooks', title: 'Webhooks', role: 'admin', render: renderWebhooks },
    { name: 'audit', title: 'Audit log', role: 'admin', shortcut: 'a', render: renderAudit },
    { name: 'organizations', title: 'Organizations', role: 'system admin', render: renderOrganizations },
    { name: 'gateways', title: 'Gateways', role: 'system admin', render: renderGateways },
    { name: 'settings', title: 'Settings', role: 'system admin', render: renderSettings },
    { name: 'signing-keys', title: 'Signing keys', role: 'system admin', render: renderSigningKeys },
    { name: 'backup', title: 'Backup', role: 'system admin', render: renderBackup },
  ] },
]
/** The page that the user's name in the header opens. */
const accountPage = { name: 'account', title: 'My account', role: 'viewer', render: renderAccount }
const pages = [...sections.flatMap((section) => section.pages), accountPage]
/** Pages that show one item, such as `#/devices/261122-000001`. */
const detailPages = { devices: renderDevice, objects: renderObject, copies: renderCopy, webhooks: renderWebhook }
/** Former page names, so that bookmarks keep working. */
const renamedPages = { 'bad-objects': 'corrupted-objects' }

const bar = document.getElementById('bar')
const content = document.getElementById('content')
/** Aborts the background work of the current page when another page is shown. */
let pageLifetime = new AbortController()

/** Whether the page has changes that are not saved, and the address of the page. */
let hasChanges = () => false
let shownAddress = location.hash
let isAsking = false

/** The scroll positions of the entries of the browser's history that belong to this page load. */
const scrollPositions = new Map()
let currentEntry = history.state?.entry ?? nameHistoryEntry()
history.scrollRestoration = 'manual'
/** Where the position is kept while the page is reloaded. */
const positionStorageKey = 'console-scroll'

function nameHistoryEntry() {
  const entry = crypto.randomUUID()
  history.replaceState({ entry }, '')
  return entry
}

/** Notes where the page that is left was, and returns the position of the entry that is shown now. */
function changeHistoryEntry() {
  scrollPositions.set(currentEntry, scrollY)
  currentEntry = history.state?.entry ?? nameHistoryEntry()
  return scrollPositions.get(currentEntry) ?? 0
}

/** The position of the current entry when the page was reloaded; 0 = it was opened otherwise. */
function positionBeforeReload() {
  const { entry, position } = JSON.parse(sessionStorage.getItem(positionStorageKey) ?? '{}')
  return entry === currentEntry ? position : 0
}

/** Scrolls to a position as soon as the page is long enough for it, unless the user scrolls before. */
function restorePosition(position) {
  scrollTo(0, position)
  if (position === 0 || Math.ceil(scrollY) >= position) return
  const observer = new ResizeObserver(() => {
    scrollTo(0, position)
    if (Math.ceil(scrollY) >= position) observer.disconnect()
  })
  observer.observe(content)
  for (const type of ['wheel', 'keydown', 'pointerdown']) {
    addEventListener(type, () => observer.disconnect(), { once: true, passive: true, signal: pageLifetime.signal })
  }
  pageLifetime.signal.addEventListener('abort', () => observer.disconnect())
}

function showSignIn() {
  pageLifetime.abort()
  forgetLists()
  uploadQueue.stop()
  endSignIn()
  closeDialogs()
  bar.hidden = true
  showEntrance('')
}

/** Shows the sign-in, or the invitation of the address. `reason` says why a sign-in failed. */
function showEntrance(reason) {
  const token = invitationToken(location.hash)
  if (token) renderInvitation(content, token, join)
  else renderSignIn(content, reason, startSession)
}

/** Starts the first session of a user, who came by an invitation or by the sign-in after it. */
async function join({ password, wantsSecondFactor } = {}) {
  if (!wantsSecondFactor) return startSession()
  forgetInvitation('#/account')
  await startSession()
  return setUpFirstSecondFactor(password, showPage).catch((error) => showNotice(error.message))
}

/** Loads the page again, for another user or for none. */
function replacePage() {
  // The page would ask whether it may be left during uploads, or with changes.
  uploadQueue.stop()
  hasChanges = () => false
  location.reload()
}

async function signOut() {
  try {
    await api.signOut()
  } catch {
    // The browser has already discarded its session, even if the gateway could not be told.
  }
}

async function showAccount() {
  const { organization, userName, role } = api.session.user
  const account = document.getElementById('account')
  account.replaceChildren(
    h('button', { type: 'button', class: 'find', 'aria-label': 'Find anything', title: 'Find anything (Ctrl K)', onclick: openSearch },
      svg('svg', { viewBox: '0 0 24 24' }, svg('path', { d: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5L21 21' }))),
    h(api.hasRole('viewer') ? 'a' : 'span', { href: api.hasRole('viewer') && `#/${accountPage.name}`, title: `${organization}/${userName}` },
      h('span', { class: 'unseen' }, `${accountPage.title}: `),
      h('span', { class: 'user' }, userName), ' ', h('small', {}, role)),
    button('Sign out', signOut))
  // The gateway lets a member read nothing, not even the own account.
  if (!api.hasRole('viewer')) return
  const { secondFactorMissing } = await api.call('account', 'GetAccount')
  // Nothing else is open until the second factor is set up.
  if (secondFactorMissing) {
    location.hash = '#/account'
    return
  }
}

/** Shows the choice of the organization. Lists of all organizations differ from those of one, so pages wait for it. */
async function showOrganizations() {
  const organizations = api.hasRole('system admin')
    ? await api.callAll('admin', 'ListOrganizations', 'organizations', {}, { organization: '' }) : []
  const choice = organizationSelect(organizations.map((each) => each.organization))
  if (choice) document.getElementById('account').prepend(choice)
}

/** Says on a page of one organization which one it shows. */
function noteOwnPage() {
  const header = content.querySelector('.page.own > .page-header')
  header?.after(...[ownPageNote()].filter(Boolean))
}

/** Shows the page of the address; resolves to whether it is still shown when it is complete. */
async function showPage() {
  if (!api.session) {
    if (invitationToken(location.hash)) showEntrance('')
    return false
  }
  pageLifetime.abort()
  pageLifetime = new AbortController()
  hasChanges = () => false
  shownAddress = location.hash
  const { signal } = pageLifetime
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [requestedName, part = ''] = path.split('/')
  const name = renamedPages[requestedName] ?? requestedName
  const page = name === '' ? pages[0] : pages.find((each) => each.name === name)
  const parameters = new URLSearchParams(query)
  const foreign = followAddress(parameters)
  const body = h('div', { class: page?.isOwn ? 'page own' : 'page' })
  content.replaceChildren(body)
  if (invitationToken(location.hash)) {
    showNavigation(sections, name)
    renderForeignInvitation(body, signOut)
    return titled(body)
  }
  if (!page || foreign || !api.hasRole(page.role)) {
    showNavigation(sections, name)
    if (foreign) renderForeignPage(body, foreign, signOut)
    else if (page) renderForbiddenPage(body, page, signOut)
    else renderMissingPage(body, signOut)
    return titled(body)
  }
  showNavigation(sections, page.name)
  showSkeleton(body, page)
  try {
    const id = decodeURIComponent(part)
    const render = id && detailPages[name] ? detailPages[name] : page.render
    const guardChanges = (check) => { if (!signal.aborted) hasChanges = check }
    await render(body, { id, query: parameters, signal, reload: showPage, guardChanges })
  } catch (error) {
    if (!signal.aborted) body.replaceChildren(pageHeader(page.title), alertMessage(error.message))
  }
  if (signal.aborted) return false
  noteOwnPage()
  return titled(body)
}

/** Gives the window the page's title. */
function titled(body) {
  document.title = `${body.querySelector('h1').textContent} · data-gateway`
  return true
}

/** Shows the title and grey places until the page has what it shows. */
function showSkeleton(body, { title }) {
  body.replaceChildren(h('div', { class: 'skeleton', 'aria-busy': 'true' },
    h('p', { class: 'skeleton-title', role: 'heading', 'aria-level': 1 }, title), h('p', { class: 'unseen' }, 'The page is being loaded.'),
    h('div'), h('div'), h('div')))
}

async function startSession() {
  bar.hidden = false
  watchSession()
  showAccount().catch(() => {})
  await showOrganizations().catch(() => {})
  return showPage()
}

applyTheme()
api.onSignedOut(showSignIn)
api.onSessionEnded({
  ended: (reason) => signInAgain(reason, { leave: signOut }),
  resumed: () => {
    endSignIn()
    watchSession()
  },
  replaced: replacePage,
})
api.onRecovered(() => {
  uploadQueue.tryNow()
  if (!api.session) return location.reload()
  return hasChanges() ? undefined : showPage()
})
watchUploads()
const openSearch = listenForShortcuts(pages)
addEventListener('beforeunload', (event) => {
  if (hasChanges()) event.preventDefault()
})
addEventListener('hashchange', async ({ newURL }) => {
  if (isAsking) return
  if (hasChanges() && !await mayLeave(new URL(newURL).hash)) return
  const position = changeHistoryEntry()
  closeDialogs()
  scrollTo(0, 0)
  if (!await showPage()) return
  content.focus({ preventScroll: true })
  restorePosition(position)
})

/** Asks whether the page may be left for an address without its changes; otherwise its own address is shown again. */
async function mayLeave(address) {
  isAsking = true
  let isLeaving = false
  await showFormDialog({ title: 'Leave without saving?', text: 'The changes on this page are not saved.', submit: 'Leave', isDangerous: true,
    action: () => { isLeaving = true } })
  isAsking = false
  if (isLeaving) hasChanges = () => false
  // The end of an earlier question may have changed the address since then.
  history.replaceState(history.state, '', (isLeaving ? address : shownAddress) || '#/')
  return isLeaving
}

addEventListener('pagehide', () => {
  sessionStorage.setItem(positionStorageKey, JSON.stringify({ entry: currentEntry, position: scrollY }))
})
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault()
  content.focus()
})

/** Completes the sign-in of a browser that comes back from an identity provider; returns the reason of a failure. */
async function completeProviderSignIn() {
  if (location.pathname !== '/console/sso/callback') return ''
  const parameters = new URLSearchParams(location.search)
  // The code is not kept in the browser's history.
  history.replaceState(history.state, '', '/console/')
  try {
    await api.completeProviderSignIn(parameters)
    return ''
  } catch (error) {
    return error.message
  }
}

try {
  const failure = await completeProviderSignIn()
  if (!failure && await api.resumeSession()) {
    if (await startSession()) restorePosition(positionBeforeReload())
  } else showEntrance(failure)
} catch (error) {
  content.replaceChildren(alertMessage(error.message))
}

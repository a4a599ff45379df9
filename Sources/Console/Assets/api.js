/** Calls of the gateway's services by the Connect protocol, through the console's session. */

import { showConnectionLost } from './connection.js'

const services = {
  account: 'archebase.auth.v1.AccountService',
  admin: 'archebase.auth.v1.AdminAuthService',
  audit: 'archebase.auth.v1.AuditService',
  clock: 'archebase.data_gateway.v1.ClockService',
  copies: 'archebase.data_gateway.v1.DataGatewayCopyService',
  copyManagement: 'archebase.data_gateway.v1.CopyManagementService',
  identities: 'archebase.auth.v1.IdentityManagementService',
  invitations: 'archebase.auth.v1.InvitationManagementService',
  sessions: 'archebase.session.v1.SessionService',
  tokens: 'archebase.auth.v1.ApiTokenService',
  devices: 'archebase.meta.v1.DeviceManagementService',
  events: 'archebase.events.v1.EventService',
  management: 'archebase.data_gateway.v1.ObjectManagementService',
  objects: 'archebase.data_gateway.v1.DataGatewayObjectService',
  restore: 'archebase.data_gateway.v1.RestoreService',
  system: 'archebase.data_gateway.v1.SystemService',
  uploads: 'archebase.data_gateway.v1.UploadManagementService',
  users: 'archebase.auth.v1.UserAuthService',
}

const roles = ['member', 'viewer', 'operator', 'admin', 'service']

/**
 * The session token's key in `localStorage`. A request needs this token and the session cookie, which scripts cannot
 * read.
 */
const tokenStorageKey = 'console-token'

/**
 * A failed call: `status` is the HTTP status (0 if no response arrived), `message` the server's message, `detail` the
 * gateway's code with its values, for example `{code: 'AUTH_SECOND_FACTOR_REQUIRED', challenge: '…'}`.
 */
export class CallError extends Error {
  constructor(status, { code, message, details = [] } = {}) {
    super(message || `The gateway answered with HTTP status ${status}.`)
    this.status = status
    this.code = code
    this.detail = details[0]?.debug ?? {}
  }
}

/**
 * The current session, `{user, deviceEndpoints, secondsLeft, idleSecondsLeft, checkedAt}`; `null` while nobody is signed in. It stays while
 * it has ended and the user has not signed in again.
 */
export let session = null
/** Requests of an ended session wait for it; `resume` = its function while the session has ended. */
let resumed = Promise.resolve()
let resume = null
let signedOutHandler = () => {}
let endedHandler = () => {}
let resumedHandler = () => {}
let replacedHandler = () => {}
let recoveredHandler = () => {}

/** Sets the function that is called when the user has signed out. */
export function onSignedOut(action) {
  signedOutHandler = action
}

/**
 * Sets the functions for the end of the session: `ended(reason)` asks for another sign-in, `resumed()` follows a sign-in of the same user,
 * `replaced()` one of another user.
 */
export function onSessionEnded({ ended, resumed: isResumed, replaced }) {
  endedHandler = ended
  resumedHandler = isResumed
  replacedHandler = replaced
}

/** Sets the function that is called when the gateway can be reached again. */
export function onRecovered(action) {
  recoveredHandler = action
}

/** Whether the user's role includes `role`; `system admin` means an admin of the organization `system`. */
export function hasRole(role) {
  if (role === 'system admin') return isSystemUser() && hasRole('admin')
  return roles.indexOf(session?.user.role) >= roles.indexOf(role)
}

export function isSystemUser() {
  return session?.user.organization === 'system'
}

let selected = ''

/** The organization that an admin of `system` has selected; empty for all, and for the own one of other users. */
export function selectedOrganization() {
  return selected
}

export function selectOrganization(organization) {
  selected = organization
}

function sendRequest(method, path, options) {
  return send(method, `/console/${path}`, options)
}

async function send(method, address, { body, isBackground, isQuiet, organization, isAnonymous } = {}) {
  const headers = { 'Content-Type': 'application/json' }
  const token = localStorage.getItem(tokenStorageKey)
  if (token && !isAnonymous) headers['X-Console-Token'] = token
  if (organization) headers['X-Organization'] = organization
  if (isBackground) headers['X-Console-Background'] = '1'
  let response
  let text
  try {
    response = await fetch(address, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      credentials: isAnonymous ? 'omit' : 'same-origin',
    })
    text = await response.text()
  } catch {
    if (!isQuiet) showConnectionLost(recoveredHandler)
    throw new CallError(0, { message: 'The gateway cannot be reached. Check the network connection and try again.' })
  }
  if (response.ok) return text ? JSON.parse(text) : {}
  let failure = {}
  try {
    failure = JSON.parse(text)
  } catch {
    // The body is not JSON, for example a proxy's error page. The message then names the status.
  }
  throw new CallError(response.status, failure)
}

/**
 * Calls a method, for example `call('devices', 'ListDevices', {pageSize: 50})`.
 *
 * `isBackground`: the page polls without a user's action; the call does not extend the session.
 * `isQuiet`: the page itself says when the gateway cannot be reached, and is not shown again afterwards.
 * `signedOutReason`: shown with the sign-in if the session has ended.
 */
export function call(service, method, message = {}, { organization = selectedOrganization(), ...options } = {}) {
  return sendSessionRequest('POST', `rpc/${services[service]}/${method}`, { ...options, body: message, organization })
}

/** Calls a method that lists entries in pages, and returns the entries of all pages, which are in the field `field`. */
export async function callAll(service, method, field, message = {}, options = {}) {
  const entries = []
  let pageToken = ''
  do {
    const page = await call(service, method, { ...message, pageToken }, options)
    entries.push(...page[field] ?? [])
    pageToken = page.nextPageToken ?? ''
  } while (pageToken)
  return entries
}

/** Sends a request that needs a session. */
function sendSessionRequest(method, path, { signedOutReason, ...options }) {
  return inSession(() => sendRequest(method, path, options), signedOutReason)
}

/** Sends a request. If the session has ended, the request is sent again when its user has signed in again. */
async function inSession(send, reason = 'Your session has ended. Sign in again.') {
  for (;;) {
    await resumed
    const sender = session
    try {
      return await send()
    } catch (error) {
      // The answer to an earlier session may arrive late: nobody, or somebody else is signed in then.
      const isOwn = session && session.user.userName === sender?.user.userName && session.user.organization === sender.user.organization
      if (error.status !== 401 || !isOwn) throw error
      if (session === sender) suspend(reason)
    }
  }
}

/** Lets requests wait until the user has signed in again. */
function suspend(reason) {
  if (resume) return
  resumed = new Promise((done) => { resume = done })
  endedHandler(reason)
}

/**
 * Sends bytes of an upload, for example `sendBytes('PUT', 'uploads/ID', file.slice(0, 1024))`; resolves to the response.
 *
 * `onProgress(count)` is called with the number of bytes sent so far. An aborted `signal` rejects with its reason, a lost connection
 * with a `CallError` of status 0.
 */
export function sendBytes(method, path, blob, options = {}) {
  return inSession(() => sendBody(method, path, blob, options))
}

function sendBody(method, path, blob, { organization, signal, onProgress = () => {} }) {
  return new Promise((resolve, reject) => {
    // A signal that is aborted already tells no listener.
    if (signal?.aborted) return reject(signal.reason)
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    request.open(method, `/console/${path}`)
    request.setRequestHeader('X-Console-Token', localStorage.getItem(tokenStorageKey) ?? '')
    if (organization) request.setRequestHeader('X-Organization', organization)
    request.upload.onprogress = (event) => onProgress(event.loaded)
    request.onloadend = () => {
      signal?.removeEventListener('abort', abort)
      if (signal?.aborted) return reject(signal.reason)
      let answer = {}
      try {
        answer = JSON.parse(request.responseText)
      } catch {
        // Without a body in JSON, the status says what happened.
      }
      if (request.status === 200) return resolve(answer)
      if (request.status === 0) return noResponse(blob).then(reject)
      return reject(new CallError(request.status, answer))
    }
    signal?.addEventListener('abort', abort, { once: true })
    request.send(blob)
  })
}

/** The error for bytes without a response: the browser reports a file that cannot be read like a lost connection. */
async function noResponse(blob) {
  try {
    await blob?.slice(0, 1).arrayBuffer()
  } catch {
    return new Error('The file cannot be read: it was changed, moved or removed. Choose it again.')
  }
  return new CallError(0, { message: 'The connection to the gateway was lost.' })
}

/** The invitation of a token, `{invitation, secondFactorRequired}`. */
export function getInvitation(token) {
  return callForVisitor('GetInvitation', { token })
}

/** Creates the user of an invitation. */
export function acceptInvitation(token, password) {
  return callForVisitor('AcceptInvitation', { token, password })
}

/** Calls a method for people without a session, whose token is in the message, so that it is in no address. */
function callForVisitor(method, body) {
  return send('POST', `/archebase.auth.v1.InvitationService/${method}`, { body, isQuiet: true, isAnonymous: true })
}

/** Signs in with `{organization, userName, password}`, or completes a sign-in with `{challenge, code}`. */
export async function signIn(credentials) {
  await beginSession(await sendRequest('POST', 'session', { body: credentials }))
}

/** The identity providers with which people can sign in, `[{name, title}]`. */
export function listProviders() {
  return sendRequest('GET', 'sso')
}

/** Sends a window of the browser to an identity provider, which sends it back to `/console/sso/callback`. */
export async function startProviderSignIn(name, target) {
  const { url } = await sendRequest('POST', `sso/${encodeURIComponent(name)}`)
  target.location.assign(url)
}

/** Completes a sign-in with the parameters with which the provider sent the browser back. */
export async function completeProviderSignIn(parameters) {
  const [code, state, issuer] = ['code', 'state', 'iss'].map((name) => parameters.get(name) ?? '')
  if (!code) {
    const reason = [parameters.get('error'), parameters.get('error_description')].filter(Boolean).join(': ')
    throw new Error(`The identity provider refused the sign-in: ${reason || 'it sent no code'}`)
  }
  await beginSession(await sendRequest('POST', 'sso/callback', { body: { code, state, issuer } }))
}

async function beginSession({ token }) {
  const before = session
  localStorage.setItem(tokenStorageKey, token)
  const found = await currentSession()
  if (!found) {
    localStorage.removeItem(tokenStorageKey)
    throw new Error('The browser did not store the session cookie. Open the console over HTTPS.')
  }
  if (before) return continueWith(found)
  ;[resumed, resume] = [Promise.resolve(), null]
  session = found
}

/** Continues what the page did, if its user has signed in again; the page of another user is loaded again. */
function continueWith(found) {
  const [before, now] = [session.user, found.user]
  if (before.organization !== now.organization || before.userName !== now.userName || before.role !== now.role) return replacedHandler()
  session = found
  resume?.()
  resume = null
  return resumedHandler()
}

/** The browser's session; `null` if it has none. */
async function currentSession() {
  if (!localStorage.getItem(tokenStorageKey)) return null
  try {
    return { ...await sendRequest('GET', 'session'), checkedAt: Date.now() }
  } catch (error) {
    if (error.status === 0) throw error
    return null
  }
}

/** Resumes the browser's session; returns `false` if the browser has no session. */
export async function resumeSession() {
  session = await currentSession()
  return session !== null
}

/** Loads the times after which the session ends. `isBackground`: without prolonging it. */
export async function checkSession({ isBackground }) {
  const { secondsLeft, idleSecondsLeft } = await sendSessionRequest('GET', 'session', { isBackground, isQuiet: true })
  if (session) session = Object.assign(session, { secondsLeft, idleSecondsLeft, checkedAt: Date.now() })
}

export async function signOut() {
  try {
    await sendRequest('DELETE', 'session')
  } finally {
    ;[session, resumed, resume] = [null, Promise.resolve(), null]
    localStorage.removeItem(tokenStorageKey)
    signedOutHandler()
  }
}

// Another tab signed in or out. The page of another user is loaded again, so that it does not show one user while it acts as another.
addEventListener('storage', async ({ key }) => {
  if (key !== tokenStorageKey && key !== null) return
  const found = session && await currentSession().catch(() => null)
  if (found) continueWith(found)
  else replacedHandler()
})

/** Returns a path from which an archive of objects can be downloaded once: those of `fileIds`, or of a `filter`. */
export async function createArchiveDownload(selection) {
  const options = { body: selection, organization: selectedOrganization() }
  return (await sendSessionRequest('POST', 'archives', options)).path
}

/** Returns a path from which the object can be read while the session lasts, also in ranges. */
export async function createContentAccess(fileId) {
  const options = { body: { fileId }, organization: selectedOrganization() }
  return (await sendSessionRequest('POST', 'contents', options)).path
}

/** Returns a path from which a backup can be downloaded once. */
export async function createBackupDownload(withoutObjects) {
  return (await sendSessionRequest('POST', 'backups', { body: { withoutObjects } })).path
}

/** The gateway's calls, as the pages make them: by Connect, through the console's session. */

const services = {
  admin: 'archebase.auth.v1.AdminAuthService',
  audit: 'archebase.auth.v1.AuditService',
  devices: 'archebase.meta.v1.DeviceManagementService',
  management: 'archebase.data_gateway.v1.ObjectManagementService',
  objects: 'archebase.data_gateway.v1.DataGatewayObjectService',
  uploads: 'archebase.data_gateway.v1.UploadManagementService',
  users: 'archebase.auth.v1.UserAuthService',
}

const roles = ['viewer', 'operator', 'admin', 'service']

/** Kept beside the cookie, which no script can read: neither of the two opens anything alone. */
const storedToken = 'console-token'
const storedOrganization = 'console-organization'

/** What the server said, in its own words. */
export class CallError extends Error {
  constructor(status, { code, message } = {}) {
    super(message || `the gateway answered ${status}`)
    this.status = status
    this.code = code
  }
}

/** Who is signed in: `user` and `deviceEndpoints`; `null` = nobody. */
export let session = null
let whenSignedOut = () => {}

export function onSignedOut(action) {
  whenSignedOut = action
}

/** Whether the user's role includes `role`. */
export function may(role) {
  if (role === 'system admin') return isOfSystem() && may('admin')
  return roles.indexOf(session?.user.role) >= roles.indexOf(role)
}

export function isOfSystem() {
  return session?.user.organization === 'system'
}

/** The organization that an admin of `system` acts for; empty = their own. */
export function actingFor() {
  return sessionStorage.getItem(storedOrganization) ?? ''
}

export function actFor(organization) {
  sessionStorage.setItem(storedOrganization, organization)
}

async function request(method, path, { body, isBackground, organization } = {}) {
  const headers = { 'Content-Type': 'application/json' }
  const token = localStorage.getItem(storedToken)
  if (token) headers['X-Console-Token'] = token
  if (organization) headers['X-Organization'] = organization
  if (isBackground) headers['X-Console-Background'] = '1'
  let response
  try {
    response = await fetch(`/console/${path}`, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: 'same-origin',
    })
  } catch {
    throw new CallError(0, { message: 'the gateway cannot be reached' })
  }
  const text = await response.text()
  if (response.ok) return text ? JSON.parse(text) : {}
  let failure = {}
  try {
    failure = JSON.parse(text)
  } catch {
    // A proxy's own page: the status says enough.
  }
  throw new CallError(response.status, failure)
}

/**
 * One call, e.g. `call('devices', 'ListDevices', {pageSize: 50})`.
 *
 * `isBackground`: nobody asked for it, so it does not keep the session alive.
 */
export function call(service, method, message = {}, { isBackground = false, organization = actingFor() } = {}) {
  return requestInSession('POST', `rpc/${services[service]}/${method}`, { body: message, isBackground, organization })
}

/** Where the session has ended, the page for signing in takes the place of what asked. */
async function requestInSession(method, path, options) {
  try {
    return await request(method, path, options)
  } catch (error) {
    if (error.status === 401) forget()
    throw error
  }
}

export async function signIn(organization, userName, password) {
  const { token } = await request('POST', 'session', { body: { organization, userName, password } })
  localStorage.setItem(storedToken, token)
  if (await resume()) return
  localStorage.removeItem(storedToken)
  throw new Error('The browser does not keep the session’s cookie. The console needs https here.')
}

/** Goes on with the session that the browser has, if it has one. */
export async function resume() {
  if (!localStorage.getItem(storedToken)) return false
  try {
    session = await request('GET', 'session')
  } catch (error) {
    if (error.status === 0) throw error
    session = null
  }
  return session !== null
}

export async function signOut() {
  try {
    await request('DELETE', 'session')
  } finally {
    forget('')
  }
}

// Somebody signed in or out in another tab: this one must not show one person and act as another.
addEventListener('storage', ({ key }) => {
  if (key !== storedToken && key !== null) return
  sessionStorage.removeItem(storedOrganization)
  location.reload()
})

function forget(reason = 'Your session has ended. Sign in again to go on.') {
  session = null
  localStorage.removeItem(storedToken)
  sessionStorage.removeItem(storedOrganization)
  whenSignedOut(reason)
}

/** Where a backup can be fetched, once. */
export async function offerBackup(withoutObjects) {
  return (await requestInSession('POST', 'backups', { body: { withoutObjects } })).path
}

import { h } from './dom.js'
import { wait } from './wait.js'

/** Time between two attempts to reach the gateway, in milliseconds. */
const retryInterval = 2000
let banner = null

/** Shows that the gateway cannot be reached, until it can be reached again; then calls `recovered`. */
export async function showConnectionLost(recovered) {
  if (banner) return
  banner = h('p', { class: 'away', role: 'status' }, 'The gateway cannot be reached. Trying again…')
  document.body.prepend(banner)
  do {
    await wait(retryInterval)
  } while (!await isReachable())
  banner.remove()
  banner = null
  recovered()
}

async function isReachable() {
  try {
    const response = await fetch('/console/icon.svg', { cache: 'no-store' })
    return response.ok
  } catch {
    return false
  }
}

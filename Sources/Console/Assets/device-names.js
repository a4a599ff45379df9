import { call, callAll, hasRole, selectedOrganization } from './api.js'
import { h } from './dom.js'

/** Time for which names are kept, in milliseconds. */
const lifetime = 60_000
/** Devices in one request. */
const mostDevices = 1000
let known = { organization: null, names: new Map(), loadedAt: 0 }
/** The functions that wait for names, by device id. */
const waiting = new Map()
let isLoading = false
/** The devices of an organization, which are loaded once. */
let devices = { organization: null, list: [] }

/** Loads the devices of the organization, if the user's role may list them and they are not loaded. */
export async function loadDevices() {
  if (!hasRole('operator') || devices.organization === selectedOrganization()) return
  devices = { organization: selectedOrganization(), list: [] }
  devices.list = await callAll('devices', 'ListDevices', 'devices', { pageSize: 1000 }, { isBackground: true })
}

/** The devices of the organization that were loaded. */
export function loadedDevices() {
  return devices.list
}

function currentNames() {
  const organization = selectedOrganization()
  if (known.organization !== organization || performance.now() - known.loadedAt > lifetime) {
    known = { organization, names: new Map(), loadedAt: performance.now() }
  }
  return known.names
}

/** Calls `show` with the device's name as soon as it is known; the name is empty for a device without one. */
export function withDeviceName(id, show) {
  const name = currentNames().get(id)
  if (name !== undefined) return show(name)
  waiting.set(id, [...waiting.get(id) ?? [], show])
  if (!isLoading) {
    isLoading = true
    // Those of all rows that are drawn now are requested together.
    queueMicrotask(load)
  }
  return undefined
}

/** The device's name if it was loaded, else an empty text. */
export function deviceName(id) {
  return currentNames().get(id) ?? ''
}

/** Keeps names that another answer contained: `[[id, name], …]`. */
export function keepDeviceNames(entries) {
  const names = currentNames()
  for (const [id, name] of entries) names.set(id, name)
}

/** Forgets all names, because one was changed. */
export function forgetDeviceNames() {
  known.organization = null
}

async function load() {
  while (waiting.size > 0) {
    const deviceIds = [...waiting.keys()].slice(0, mostDevices)
    const names = currentNames()
    try {
      const { displayNames = {} } = await call('devices', 'GetDeviceNames', { deviceIds }, { isBackground: true })
      for (const id of deviceIds) names.set(id, displayNames[id] ?? '')
    } catch {
      // The ids stay visible.
      for (const id of deviceIds) names.set(id, '')
    }
    for (const id of deviceIds) {
      const shown = waiting.get(id) ?? []
      waiting.delete(id)
      for (const show of shown) show(names.get(id) ?? '')
    }
  }
  isLoading = false
}

/**
 * A device by its name, with its id below or beside it; without a name, its id. It is a link to the device's page if the user's
 * role may open it.
 */
export function deviceLink(id) {
  const main = h(hasRole('operator') ? 'a' : 'span', { href: hasRole('operator') && `#/devices/${id}`, class: 'id' }, id)
  const element = h('span', { class: 'device' }, main)
  withDeviceName(id, (name) => {
    if (!name) return
    main.textContent = name
    main.className = name.length <= 32 ? 'id' : ''
    element.append(' ', h('small', { class: 'id' }, id))
  })
  return element
}

import { call, callAll, hasRole, selectedOrganization } from './api.js'
import { h } from './dom.js'
import { inOrganization } from './organization-choice.js'

/** Time for which names are kept, in milliseconds. */
const lifetime = 60_000
/** Devices in one request. */
const mostDevices = 1000
/** The names of devices by organization: `{names, loadedAt}`. */
const known = new Map()
/** The functions that wait for names, by organization and device id. */
const waiting = new Map()
let isLoading = false
/** The devices of an organization, and when they were loaded. */
let devices = { organization: null, list: [], loadedAt: 0 }

/** Loads the devices of the organization, if the user's role may list them and they were not loaded within the last minute. */
export async function loadDevices() {
  const organization = selectedOrganization()
  const isSame = devices.organization === organization
  if (!hasRole('operator') || (isSame && performance.now() - devices.loadedAt <= lifetime)) return
  const loading = { organization, list: isSame ? devices.list : [], loadedAt: performance.now() }
  devices = loading
  loading.list = await callAll('devices', 'ListDevices', 'devices', { pageSize: 1000 }, { isBackground: true })
}

/** The devices of the organization that were loaded. */
export function loadedDevices() {
  return devices.list
}

function namesOf(organization) {
  const found = known.get(organization)
  if (found && performance.now() - found.loadedAt <= lifetime) return found.names
  const names = new Map()
  known.set(organization, { names, loadedAt: performance.now() })
  return names
}

/**
 * Calls `show` with the device's name as soon as it is known; the name is empty for a device without one. `organization`: the
 * device's, if it is not the selected one.
 */
export function withDeviceName(id, show, organization = selectedOrganization()) {
  const name = namesOf(organization).get(id)
  if (name !== undefined) return show(name)
  const ids = waiting.get(organization) ?? new Map()
  waiting.set(organization, ids)
  ids.set(id, [...ids.get(id) ?? [], show])
  if (!isLoading) {
    isLoading = true
    // Those of all rows that are drawn now are requested together.
    queueMicrotask(load)
  }
  return undefined
}

/** The device's name if it was loaded, else an empty text. */
export function deviceName(id, organization = selectedOrganization()) {
  return namesOf(organization).get(id) ?? ''
}

/** Keeps names that another answer contained: `[[id, name], …]`. */
export function keepDeviceNames(entries) {
  const names = namesOf(selectedOrganization())
  for (const [id, name] of entries) names.set(id, name)
}

/** Forgets all devices and their names, because one was added, changed or removed. */
export function forgetDevices() {
  known.clear()
  devices.loadedAt = -Infinity
}

async function load() {
  while (waiting.size > 0) {
    const [organization, ids] = waiting.entries().next().value
    const deviceIds = [...ids.keys()].slice(0, mostDevices)
    const names = namesOf(organization)
    try {
      const { displayNames = {} } = await call('devices', 'GetDeviceNames', { deviceIds }, { isBackground: true, organization })
      for (const id of deviceIds) names.set(id, displayNames[id] ?? '')
    } catch {
      // The ids stay visible.
      for (const id of deviceIds) names.set(id, '')
    }
    for (const id of deviceIds) {
      const shown = ids.get(id) ?? []
      ids.delete(id)
      if (ids.size === 0) waiting.delete(organization)
      for (const show of shown) show(names.get(id) ?? '')
    }
  }
  isLoading = false
}

/**
 * A device by its name, with its id below or beside it; without a name, its id. It is a link to the device's page if the user's
 * role may open it. `organization`: the device's, if it is not the selected one.
 */
export function deviceLink(id, organization = selectedOrganization()) {
  const address = hasRole('operator') && inOrganization(`#/devices/${id}`, organization)
  const main = h(address ? 'a' : 'span', { href: address, class: 'id' }, id)
  const element = h('span', { class: 'device' }, main)
  withDeviceName(id, (name) => {
    if (!name) return
    main.textContent = name
    main.className = name.length <= 32 ? 'id' : ''
    element.append(' ', h('small', { class: 'id' }, id))
  }, organization)
  return element
}

import { call, hasRole } from './api.js'
import { h } from './dom.js'

/** The steps to the first object: the page, the title, what it is for, the role, and how to see that it is done. */
const steps = [
  ['keys', 'Create a site', 'a place with devices', 'operator', async () => (await call('admin', 'ListSites', { pageSize: 1 })).sites],
  ['suites', 'Create a suite', 'a group of devices of a site', 'operator',
    async () => (await call('devices', 'ListDeviceSuites', { pageSize: 1 })).deviceSuites],
  ['devices', 'Register a device', 'and let it scan the QR code with its configuration', 'operator',
    async () => (await call('devices', 'ListDevices', { pageSize: 1 })).devices],
  ['devices', 'Let the device fetch its key', 'with the app, or the program data-gateway-device', 'operator',
    async () => (await call('devices', 'ListDevices', { pageSize: 1, status: 'DEVICE_STATUS_INITIALIZED' })).devices],
  ['uploads', 'Upload a file', 'from this browser, or follow the first upload of a device', 'viewer',
    async () => (await call('uploads', 'ListUploads', { pageSize: 1 })).uploads],
]

/** The steps that lead to the first object, with a mark at those that are done. */
export function firstSteps() {
  return h('div', { class: 'card first-steps' }, h('h2', {}, 'No objects'),
    h('p', {}, 'An object is listed when its upload is complete. The first steps:'),
    h('ol', {}, steps.filter(([, , , role]) => hasRole(role)).map(([page, title, text, , isDone]) => {
      const mark = h('span', { class: 'step-mark' })
      const item = h('li', {}, mark, h('a', { href: `#/${page}` }, title), `: ${text}.`)
      isDone().then((found) => {
        if (!found?.length) return
        item.className = 'done'
        mark.replaceChildren(h('span', { 'aria-hidden': 'true' }, '✓ '), h('span', { class: 'unseen' }, 'Done: '))
      }).catch(() => {})
      return item
    })))
}

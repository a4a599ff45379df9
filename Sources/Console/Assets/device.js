import { call, session } from './api.js'
import { badge, button, h, pageHeader, propertyList, showNotice } from './dom.js'
import { showDialog, showFormDialog } from './dialog.js'
import { deviceBadge, suiteOptions } from './devices.js'
import { formatTags, parseTags, tagList, timeElement } from './format.js'
import { drawQR } from './qr.js'

/** One device, and all that can be done with it. */
export async function renderDevice(body, { id, reload }) {
  const name = `devices/${id}`
  const [device, suites] = await Promise.all([call('devices', 'GetDevice', { name }), suiteOptions()])
  const runAction = async (method, message, notice) => {
    await call('devices', method, message)
    showNotice(notice)
    await reload()
  }
  const confirmButton = (label, method, notice, isDangerous) => button(label, () => showFormDialog({
    title: `${label} ${id}?`, submit: label, isDangerous, action: () => runAction(method, { name }, notice),
  }), isDangerous ? 'danger' : '')
  const isDisabled = device.status === 'DEVICE_STATUS_DISABLED'

  body.replaceChildren(
    pageHeader(id, button('Show configuration', () => showConfiguration(id), 'primary'),
      button('Edit', () => editDevice(device, runAction)),
      device.suite
        ? button('Take out of suite', () => showFormDialog({
          title: `Take ${id} out of its suite?`, text: 'Its key stops with its next call.', isDangerous: true,
          submit: 'Take out',
          action: () => runAction('RemoveDeviceFromSuite', { suite: device.suite, device: name }, `${id} is in no suite.`),
        }))
        : button('Put into a suite', () => showFormDialog({
          title: `Put ${id} into a suite`, submit: 'Put',
          fields: [{ name: 'suite', label: 'Suite', type: 'select', options: suites, required: true }],
          action: ({ suite }) => runAction('AddDeviceToSuite', { suite, device: name }, `${id} is in ${suite}.`),
        })),
      device.initializedAt && confirmButton('Allow a new key', 'AllowReinit', `${id} may fetch a new key for 15 minutes.`),
      isDisabled
        ? confirmButton('Enable', 'EnableDevice', `${id} is enabled.`)
        : confirmButton('Disable', 'DisableDevice', `${id} is disabled.`, true),
      button('Delete', () => showFormDialog({
        title: `Delete ${id}?`, submit: 'Delete', isDangerous: true,
        action: async () => {
          await call('devices', 'DeleteDevice', { name })
          showNotice(`${id} is deleted.`)
          location.hash = '#/devices'
        },
      }), 'danger')),
    propertyList([
      ['State', deviceBadge(device)],
      ['Key', device.initializedAt ? badge('fetched', 'good') : badge('not fetched yet')],
      ['Name', device.displayName],
      ['Description', device.description],
      ['Suite', new Map(suites).get(device.suite) ?? (device.suite || 'none')],
      ['Tags', tagList(device.tags)],
      ['Initialized', timeElement(device.initializedAt)],
      ['Last seen', timeElement(device.lastSeenAt)],
      ['SDK', device.sdkVersion],
      ['Platform', device.platform],
      ['Registered', timeElement(device.createdAt)],
      ['Objects', h('a', { href: `#/objects?filter=${encodeURIComponent(`device=${id}`)}` }, 'Those it uploaded')],
    ]))
}

function editDevice(device, runAction) {
  return showFormDialog({
    title: `Edit ${device.deviceId}`,
    fields: [
      { name: 'displayName', label: 'Name', value: device.displayName },
      { name: 'description', label: 'Description', value: device.description },
      { name: 'tags', label: 'Tags', type: 'textarea', value: formatTags(device.tags), hint: 'One KEY=VALUE a line.' },
    ],
    submit: 'Save',
    action: ({ tags, ...message }) => runAction('UpdateDevice',
      { name: device.name, ...message, tags: parseTags(tags), replaceTags: true }, `${device.deviceId} is saved.`),
  })
}

/** The one-string configuration that an app scans: where the gateway is, and which device it is to be. */
export function deviceConfiguration(deviceID, host) {
  const endpoints = Object.entries(session.deviceEndpoints).map(([name, endpoint]) => [name, { ...endpoint, host }])
  return JSON.stringify({ ...Object.fromEntries(endpoints), device_id: deviceID })
}

function showConfiguration(deviceID) {
  const listening = session.deviceEndpoints.auth.host
  const isWildcard = ['0.0.0.0', '::'].includes(listening)
  const picture = h('div', { class: 'qr' })
  const text = h('textarea', { readonly: true, rows: 5, 'aria-label': 'Configuration as text', class: 'secret' })
  const host = h('input', {
    id: 'configuration-host', value: isWildcard ? location.hostname : listening, spellcheck: 'false',
    'aria-describedby': 'configuration-hint', oninput: draw,
  })
  function draw() {
    text.value = deviceConfiguration(deviceID, host.value.trim())
    picture.replaceChildren(drawQR(text.value, `Configuration of ${deviceID}`))
  }
  draw()
  return showDialog(`Configuration of ${deviceID}`,
    h('p', {}, 'Scan it with the app. It holds no secret: the device fetches its key with it.'),
    picture,
    h('div', { class: 'field' },
      h('label', { for: 'configuration-host' }, 'Host, as the device reaches it'), host,
      h('p', { class: 'hint', id: 'configuration-hint' }, 'The name or address of the gateway in the device’s network.')),
    text)
}

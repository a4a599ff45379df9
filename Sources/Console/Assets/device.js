import { call, session } from './api.js'
import { forgetDevices } from './device-names.js'
import { badge, button, copyable, h, pageHeader, propertyList, showNotice } from './dom.js'
import { showDialog, showFormDialog } from './dialog.js'
import { diagnosis } from './device-diagnosis.js'
import { deviceActivity } from './device-activity.js'
import { deviceBadge, suiteOptions } from './devices.js'
import { failedUploadsAddress } from './failed-uploads.js'
import { formatTags, parseTags, tagList, timeElement } from './format.js'
import { moreMenu } from './more-menu.js'
import { go } from './organization-choice.js'
import { drawQR } from './qr.js'
import { silenceField, silenceText } from './silence.js'

/** Shows one device and its activity, with buttons to edit, enable, disable and delete it. */
export async function renderDevice(body, { id, reload, signal }) {
  const name = `devices/${id}`
  const [device, suites] = await Promise.all([call('devices', 'GetDevice', { name }), suiteOptions()])
  const runAction = async (method, message, notice) => {
    await call('devices', method, message)
    forgetDevices()
    showNotice(notice)
    await reload()
  }
  const confirmButton = (label, { title, text, method, notice, isDangerous }) => button(label, () => showFormDialog({
    title, text, submit: label, isDangerous, action: () => runAction(method, { name }, notice),
  }), isDangerous ? 'danger' : '')
  const suiteTexts = new Map(suites)
  const isDisabled = device.status === 'DEVICE_STATUS_DISABLED'

  const actions = device.retiredAt
    ? [confirmButton('Unretire', {
      title: `Return device ${id} to use?`, method: 'UnretireDevice', notice: `Device ${id} was returned to use.`,
      text: 'The device is registered and in no suite. In a suite, it can fetch its first key again.',
    })]
    : [
      button('Show configuration', () => showConfiguration(id), 'primary'),
      button('Edit', () => editDevice(device, runAction)),
      moreMenu(device.suite
        ? button('Remove from suite', () => showFormDialog({
          title: `Remove device ${id} from its suite?`, submit: 'Remove', isDangerous: true,
          text: 'The device’s key stops working with the next call, until the device is added to a suite again.',
          action: () => runAction('RemoveDeviceFromSuite', { suite: device.suite, device: name },
            `Device ${id} was removed from its suite.`),
        }))
        : button('Add to suite', () => showFormDialog({
          title: `Add device ${id} to a suite`, submit: 'Add',
          fields: [{ name: 'suite', label: 'Suite', type: 'select', options: suites, required: true }],
          action: ({ suite }) => runAction('AddDeviceToSuite', { suite, device: name },
            `Device ${id} was added to the suite “${suiteTexts.get(suite) ?? suite}”.`),
        })),
      device.initializedAt && confirmButton('Allow new key', {
        title: `Allow device ${id} to fetch a new key?`,
        text: 'The device may fetch a new key for 15 minutes. The new key replaces the current one.',
        method: 'AllowReinit', notice: `Device ${id} may fetch a new key for 15 minutes.`,
      }),
      isDisabled
        ? confirmButton('Enable', {
          title: `Enable device ${id}?`, method: 'EnableDevice', notice: `Device ${id} was enabled.`,
        })
        : confirmButton('Disable', {
          title: `Disable device ${id}?`, isDangerous: true,
          text: 'The device’s key stops working with the next call, until the device is enabled again.',
          method: 'DisableDevice', notice: `Device ${id} was disabled.`,
        }),
      device.initializedAt ? confirmButton('Retire', {
        title: `Retire device ${id}?`, isDangerous: true, method: 'RetireDevice', notice: `Device ${id} was retired.`,
        text: 'The device’s key stops working, its uploads are aborted, and it leaves its suite and the lists. '
          + 'Its objects stay.',
      }) : button('Delete', () => showFormDialog({
        title: `Delete device ${id}?`, submit: 'Delete', isDangerous: true,
        text: 'A device can be deleted only if it never fetched a key.',
        action: async () => {
          await call('devices', 'DeleteDevice', { name })
          forgetDevices()
          showNotice(`Device ${id} was deleted.`)
          go('#/devices')
        },
      }), 'danger')),
    ]
  body.replaceChildren(
    pageHeader(device.displayName || id, ...actions),
    diagnosis(device),
    propertyList([
      ['Device id', copyable(id)],
      ['State', [deviceBadge(device), device.silentSince && badge('silent', 'bad')]],
      ['Key', device.initializedAt ? badge('fetched', 'good') : badge('not fetched')],
      ['Description', device.description],
      ['Suite', suiteTexts.get(device.suite) ?? (device.suite || 'none')],
      ['Tags', tagList(device.tags)],
      ['Initialized', timeElement(device.initializedAt)],
      ['Last seen', timeElement(device.lastSeenAt)],
      ['Silent after', silenceText(device.silentAfterHours, 'the suite')],
      ['SDK', device.sdkVersion],
      ['Platform', device.platform],
      ['Registered', timeElement(device.createdAt)],
      ['Retired', device.retiredAt && timeElement(device.retiredAt)],
      ['Objects', h('a', { href: `#/objects?${new URLSearchParams({ filter: `device=${id}` })}` },
        'Objects from this device')],
      ['Failed uploads', h('a', { href: failedUploadsAddress({ device: id }) }, 'Failed uploads of this device')],
    ]),
    deviceActivity(device, signal))
}

function editDevice(device, runAction) {
  return showFormDialog({
    title: `Edit device ${device.deviceId}`,
    fields: [
      { name: 'displayName', label: 'Name', value: device.displayName },
      { name: 'description', label: 'Description', value: device.description },
      { name: 'tags', label: 'Tags', type: 'textarea', value: formatTags(device.tags),
        hint: 'One tag per line, as KEY=VALUE.' },
      silenceField(device.silentAfterHours, 'the suite'),
    ],
    submit: 'Save',
    action: ({ tags, silentAfterHours, ...message }) => runAction('UpdateDevice',
      { name: device.name, ...message, tags: parseTags(tags), replaceTags: true, silentAfterHours: Number(silentAfterHours) },
      `Device ${device.deviceId} was saved.`),
  })
}

/** The configuration that an app scans: one line of JSON with the gateway's endpoints and the device's id. */
export function deviceConfiguration(deviceID, host) {
  const endpoints = Object.entries(session.deviceEndpoints).map(([name, endpoint]) => [name, { ...endpoint, host }])
  return JSON.stringify({ ...Object.fromEntries(endpoints), device_id: deviceID })
}

function showConfiguration(deviceID) {
  const listening = session.deviceEndpoints.auth.host
  const isWildcard = ['0.0.0.0', '::'].includes(listening)
  const picture = h('div', { class: 'qr' })
  const text = h('textarea', { readonly: true, rows: 6, 'aria-label': 'Configuration as text', class: 'secret' })
  const warning = h('p', { class: 'warning', role: 'status' },
    'Only the gateway’s own machine can reach this address. Enter a name or address that devices can reach.')
  const host = h('input', {
    id: 'configuration-host', value: isWildcard ? location.hostname : listening, spellcheck: 'false',
    'aria-describedby': 'configuration-hint', oninput: draw,
  })
  function draw() {
    const name = host.value.trim()
    text.value = deviceConfiguration(deviceID, name)
    warning.hidden = !isLoopback(name)
    picture.replaceChildren(drawQR(text.value, `Configuration of device ${deviceID}`))
  }
  draw()
  return showDialog(`Configuration of device ${deviceID}`,
    h('p', {}, 'Scan this QR code with the app. The configuration contains no secret; the device uses it to fetch its '
      + 'key.'),
    picture,
    h('div', { class: 'field' },
      h('label', { for: 'configuration-host' }, 'Host for devices'), host,
      h('p', { class: 'hint', id: 'configuration-hint' }, 'The name or address at which devices reach the gateway.'),
      warning),
    text)
}

function isLoopback(host) {
  return host === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(host) || ['::1', '[::1]'].includes(host)
}

import { call, callAll, hasRole } from './api.js'
import { badge, button, h, nameLink, nameText, pageHeader, showNotice } from './dom.js'
import { deviceLink } from './device-names.js'
import { showFormDialog, showSecret } from './dialog.js'
import { timeElement } from './format.js'
import { silenceField, silenceText } from './silence.js'
import { table } from './table.js'
import { browserZone, zoneNames } from './time-zone.js'

const credentialHint =
  'Copy the credential now: it is shown only once. Anyone who has it can upload as the key’s owner.'

/** Shows the organization's sites, and the keys of the selected site. */
export async function renderKeys(body, { query, reload }) {
  const sites = await callAll('admin', 'ListSites', 'sites')
  const chosen = sites.find((site) => site.siteId === query.get('site'))
  body.replaceChildren(
    pageHeader('Sites and keys', hasRole('admin') && button('New site', () => createSite(reload), 'primary')),
    table([
      { title: 'Site', cell: (site) => nameLink(site.name, `#/keys?site=${site.siteId}`) },
      { title: 'Site id', isNumber: true, cell: (site) => site.siteId },
      { title: 'State', cell: enabledBadge },
      { title: 'Time zone', cell: (site) => site.timeZone || '–' },
      { title: 'Silent after', cell: (site) => silenceText(site.silentAfterHours, 'the gateway') },
      { title: 'Created', cell: (site) => timeElement(site.createdAt, { isShort: true }) },
      { title: '', isActions: true, cell: (site) => hasRole('admin') && [button('Edit', () => editSite(site, reload)), enableButton(site, {
        kind: 'Site', name: site.name,
        consequence: 'All keys of the site, and of its devices, stop working with the next call, until the site is '
          + 'enabled again.',
        change: (method) => call('admin', `${method}Site`, { siteId: site.siteId }),
      }, reload)] },
    ], sites, hasRole('admin')
      ? 'No sites. Select “New site” to create one.' : 'No sites. Ask an admin to create one.'))
  if (chosen) body.append(...await keySection(chosen, reload))
}

async function keySection(site, reload) {
  const apiKeys = await callAll('admin', 'ListApiKeys', 'apiKeys', { siteId: site.siteId })
  return [
    h('div', { class: 'page-header' }, h('h2', {}, `Keys of ${site.name}`),
      h('div', { class: 'actions' }, button('New key', () => createKey(site, reload), 'primary'))),
    table([
      { title: 'Key', cell: (key) => nameText(key.keyName) },
      { title: 'Owner', cell: (key) => (key.principal?.deviceId ? deviceLink(key.principal.deviceId) : 'site') },
      { title: 'State', cell: enabledBadge },
      { title: 'Expires', cell: (key) => timeElement(key.expiredAt, { isShort: true }) ?? 'never' },
      { title: 'Last used', cell: (key) => timeElement(key.lastUsedAt, { isShort: true }) ?? 'never' },
      { title: '', isActions: true, cell: (key) => [
        button('Rotate', () => rotateKey(key, reload)),
        enableButton(key, {
          kind: 'Key', name: key.keyName,
          consequence: 'The key stops working with the next call, until it is enabled again.',
          change: (method) => call('admin', `${method}ApiKey`, { apiKeyId: key.apiKeyId }),
        }, reload),
        button('Delete', () => deleteKey(key, reload), 'danger'),
      ] },
    ], apiKeys, 'No keys.'),
  ]
}

function enabledBadge({ status }) {
  return status === 1 ? badge('enabled', 'good') : badge('disabled', 'bad')
}

/** A button that enables a disabled site or key, or disables an enabled one. */
function enableButton({ status }, { kind, name, consequence, change }, reload) {
  const isEnabled = status === 1
  const method = isEnabled ? 'Disable' : 'Enable'
  return button(method, () => showFormDialog({
    title: `${method} ${kind.toLowerCase()} “${name}”?`, text: isEnabled && consequence, submit: method,
    isDangerous: isEnabled,
    action: async () => {
      await change(method)
      showNotice(`${kind} “${name}” was ${method.toLowerCase()}d.`)
      await reload()
    },
  }))
}

function createSite(reload) {
  return showFormDialog({
    title: 'New site', submit: 'Create', fields: [{ name: 'name', label: 'Name', required: true }, zoneField(browserZone)],
    action: async (site) => {
      const { name } = site
      await call('admin', 'CreateSite', site)
      showNotice(`Site “${name}” was created.`)
      await reload()
    },
  })
}

/** The choice of a time zone; `zone`: empty = none. */
function zoneField(zone) {
  const names = [...new Set([zone, ...zoneNames()])].filter(Boolean)
  return { name: 'timeZone', label: 'Time zone', type: 'select', value: zone, hint: 'Days of recordings begin at midnight there.',
    options: [['', 'none (UTC)'], ...names.map((each) => [each, each])] }
}

function editSite(site, reload) {
  return showFormDialog({
    title: `Edit site “${site.name}”`, submit: 'Save',
    fields: [
      { name: 'name', label: 'Name', required: true, value: site.name }, zoneField(site.timeZone || browserZone),
      silenceField(site.silentAfterHours, 'the gateway'),
    ],
    action: async ({ silentAfterHours, ...message }) => {
      await call('admin', 'UpdateSite', { ...message, siteId: site.siteId, silentAfterHours: Number(silentAfterHours) })
      showNotice(`Site “${message.name}” was saved.`)
      await reload()
    },
  })
}

async function createKey(site, reload) {
  let credential
  await showFormDialog({
    title: `New key for site “${site.name}”`, submit: 'Create',
    fields: [{ name: 'keyName', label: 'Name', required: true }],
    action: async ({ keyName }) => {
      ({ credential } = await call('admin', 'CreateSiteApiKey', { siteId: site.siteId, keyName }))
    },
  })
  if (!credential) return
  await showSecret('Credential', credential, credentialHint)
  await reload()
}

async function rotateKey(key, reload) {
  let credential
  await showFormDialog({
    title: `Rotate key “${key.keyName}”?`, submit: 'Rotate', isDangerous: true,
    text: 'The key gets a new secret. The current secret stops working with the next call.',
    action: async () => {
      ({ credential } = await call('admin', 'RotateApiKeySecret', { apiKeyId: key.apiKeyId }))
    },
  })
  if (!credential) return
  await showSecret('Credential', credential, credentialHint)
  await reload()
}

function deleteKey(key, reload) {
  return showFormDialog({
    title: `Delete key “${key.keyName}”?`, submit: 'Delete', isDangerous: true,
    text: 'The key stops working with the next call. It cannot be restored.',
    action: async () => {
      await call('admin', 'DeleteApiKey', { apiKeyId: key.apiKeyId })
      showNotice(`Key “${key.keyName}” was deleted.`)
      await reload()
    },
  })
}

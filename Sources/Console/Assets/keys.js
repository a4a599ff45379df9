import { call, hasRole } from './api.js'
import { badge, button, h, pageHeader, showNotice } from './dom.js'
import { deviceLink } from './devices.js'
import { showFormDialog, showSecret } from './dialog.js'
import { timeElement } from './format.js'
import { table } from './table.js'

const credentialHint = 'It is shown this once. Whoever has it can upload as its owner.'

/** The sites of the organization, and the keys of one of them. */
export async function renderKeys(body, { query, reload }) {
  const { sites = [] } = await call('admin', 'ListSites')
  const chosen = sites.find((site) => site.siteId === query.get('site'))
  body.replaceChildren(
    pageHeader('Sites and keys', hasRole('admin') && button('New site', () => createSite(reload), 'primary')),
    table([
      { title: 'Site', cell: (site) => h('a', { href: `#/keys?site=${site.siteId}` }, site.name) },
      { title: 'Number', isNumber: true, cell: (site) => site.siteId },
      { title: 'State', cell: enabledBadge },
      { title: 'Since', cell: (site) => timeElement(site.createdAt) },
      { title: '', isActions: true, cell: (site) => hasRole('admin') && enableButton(
        site, site.name, (method) => call('admin', `${method}Site`, { siteId: site.siteId }), reload) },
    ], sites, 'There is no site yet.'))
  if (chosen) body.append(...await keySection(chosen, reload))
}

async function keySection(site, reload) {
  const { apiKeys = [] } = await call('admin', 'ListApiKeys', { siteId: site.siteId })
  return [
    h('div', { class: 'page-header' }, h('h2', {}, `Keys of ${site.name}`),
      h('div', { class: 'actions' }, button('New key', () => createKey(site, reload), 'primary'))),
    table([
      { title: 'Key', cell: (key) => key.keyName },
      { title: 'Of', cell: (key) => (key.principal?.deviceId ? deviceLink(key.principal.deviceId) : 'the site') },
      { title: 'State', cell: enabledBadge },
      { title: 'Expires', cell: (key) => timeElement(key.expiredAt) ?? 'never' },
      { title: 'Last used', cell: (key) => timeElement(key.lastUsedAt) ?? 'never' },
      { title: '', isActions: true, cell: (key) => [
        button('Rotate', () => rotateKey(key, reload)),
        enableButton(key, key.keyName, (method) => call('admin', `${method}ApiKey`, { apiKeyId: key.apiKeyId }), reload),
        button('Delete', () => deleteKey(key, reload), 'danger'),
      ] },
    ], apiKeys, 'The site has no keys.'),
  ]
}

function enabledBadge({ status }) {
  return status === 1 ? badge('enabled', 'good') : badge('disabled', 'bad')
}

/** Enables what is disabled, and the other way round. */
function enableButton({ status }, name, change, reload) {
  const method = status === 1 ? 'Disable' : 'Enable'
  return button(method, () => showFormDialog({
    title: `${method} ${name}?`, submit: method, isDangerous: status === 1,
    action: async () => {
      await change(method)
      showNotice(`${name} is ${method.toLowerCase()}d.`)
      await reload()
    },
  }))
}

function createSite(reload) {
  return showFormDialog({
    title: 'New site', submit: 'Create', fields: [{ name: 'name', label: 'Name', required: true }],
    action: async ({ name }) => {
      await call('admin', 'CreateSite', { name })
      showNotice(`${name} is there.`)
      await reload()
    },
  })
}

async function createKey(site, reload) {
  let credential
  await showFormDialog({
    title: `New key of ${site.name}`, submit: 'Create',
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
    title: `Rotate ${key.keyName}?`, text: 'The secret before stops with its next call.', submit: 'Rotate',
    isDangerous: true,
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
    title: `Delete ${key.keyName}?`, submit: 'Delete', isDangerous: true,
    action: async () => {
      await call('admin', 'DeleteApiKey', { apiKeyId: key.apiKeyId })
      showNotice(`${key.keyName} is deleted.`)
      await reload()
    },
  })
}

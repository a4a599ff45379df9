import { call, callAll, hasRole } from './api.js'
import { button, h, nameLink, pageHeader, showNotice } from './dom.js'
import { showFormDialog } from './dialog.js'
import { loadSiteNames, siteName } from './object-facets.js'
import { timeElement } from './format.js'
import { silenceField, silenceText } from './silence.js'
import { pagedTable } from './table.js'

/** Shows the suites, the groups of devices of a site. */
export async function renderSuites(body, { reload }) {
  await loadSiteNames()
  body.replaceChildren(
    pageHeader('Suites', button('New suite', () => createSuite(reload), 'primary')),
    h('p', {}, 'A suite is a group of devices of one site. A device needs a suite to fetch its key.'),
    pagedTable([
      { title: 'Suite', cell: (suite) => nameLink(suite.displayName || suite.name,
        `#/devices?suite=${encodeURIComponent(suite.name)}`) },
      { title: 'Id', cell: (suite) => h('code', { class: 'id' }, suite.name) },
      { title: 'Site', cell: (suite) => siteName(suite.siteId) },
      { title: 'Description', cell: (suite) => suite.description || null },
      { title: 'Silent after', cell: (suite) => silenceText(suite.silentAfterHours, 'the site') },
      { title: 'Created', cell: (suite) => timeElement(suite.createdAt, { isShort: true }) },
      { title: '', isActions: true, cell: (suite) => [
        button('Edit', () => editSuite(suite, reload)), button('Delete', () => deleteSuite(suite, reload), 'danger')] },
    ], async (pageToken) => {
      const { deviceSuites = [], nextPageToken } = await call('devices', 'ListDeviceSuites', { pageSize: 50, pageToken })
      return { rows: deviceSuites, next: nextPageToken }
    }, 'No suites. Select “New suite” to create one.'))
}

/** A suite by its name and that of its site. */
export function suiteText({ name, displayName, siteId }) {
  return `${displayName || name} (${siteName(siteId)})`
}

/** Asks for a suite's properties, and creates it. */
export async function createSuite(reload) {
  const sites = await callAll('admin', 'ListSites', 'sites')
  return showFormDialog({
    title: 'New suite',
    text: sites.length ? null : 'A suite belongs to a site, and the organization has no sites. '
      + (hasRole('admin') ? 'Create a site on the page “Sites and keys” first.' : 'Ask an admin to create one.'),
    fields: [
      { name: 'siteId', label: 'Site', type: 'select', required: true,
        options: sites.map((site) => [site.siteId, site.name]) },
      { name: 'displayName', label: 'Name', required: true },
      { name: 'description', label: 'Description' },
    ],
    submit: 'Create',
    action: async (message) => {
      const suite = await call('devices', 'CreateDeviceSuite', message)
      showNotice(`Suite “${suite.displayName}” was created.`)
      await reload()
    },
  })
}

function editSuite(suite, reload) {
  return showFormDialog({
    title: `Edit suite “${suite.displayName || suite.name}”`, submit: 'Save',
    fields: [
      { name: 'displayName', label: 'Name', required: true, value: suite.displayName },
      { name: 'description', label: 'Description', value: suite.description },
      silenceField(suite.silentAfterHours, 'the site'),
    ],
    action: async ({ silentAfterHours, ...message }) => {
      await call('devices', 'UpdateDeviceSuite',
        { ...message, name: suite.name, silentAfterHours: Number(silentAfterHours) })
      showNotice('The suite was changed.')
      await reload()
    },
  })
}

function deleteSuite(suite, reload) {
  return showFormDialog({
    title: `Delete suite “${suite.displayName || suite.name}”?`, submit: 'Delete', isDangerous: true,
    text: 'Only a suite without devices can be deleted. Objects of its former devices stay.',
    action: async () => {
      await call('devices', 'DeleteDeviceSuite', { name: suite.name })
      showNotice('The suite was deleted.')
      await reload()
    },
  })
}

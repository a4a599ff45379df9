import { createArchiveDownload } from './api.js'
import { deviceName, withDeviceName } from './device-names.js'
import { button, h } from './dom.js'
import { folderOwner, folderPath, withFolder } from './filter-terms.js'
import { chooseFolders, objectsAddress, siteName } from './object-facets.js'
import { go, inOrganization } from './organization-choice.js'

/** The name of the folder whose files a filter selects; empty for another filter. */
export function folderTitle(filter) {
  const path = folderPath(filter)
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The way from the list of all objects to the folder of a filter; `null` without a folder. */
export function folderTrail(filter, order) {
  const path = folderPath(filter)
  if (!path) return null
  const names = path.split('/')
  const folders = names.slice(0, -1).map((name, index) =>
    h('a', { href: objectsAddress(withFolder(filter, names.slice(0, index + 1).join('/')), order) }, name))
  const links = [h('a', { href: objectsAddress('', order) }, 'Objects'), ownerLink(filter, order), ...folders].filter(Boolean)
  return h('nav', { class: 'breadcrumb', 'aria-label': 'Breadcrumb' },
    links.flatMap((link) => [link, h('span', { 'aria-hidden': 'true' }, ' › ')]),
    h('span', { 'aria-current': 'page' }, names.at(-1)))
}

/** A link to all objects of the folder's owner. */
function ownerLink(filter, order) {
  const owner = folderOwner(filter)
  if (!owner) return null
  const { device, site } = owner
  const link = h('a', { href: objectsAddress(withFolder(filter, ''), order) }, device ? deviceName(device) || device : siteName(site))
  if (device) withDeviceName(device, (name) => { link.textContent = name || device })
  return link
}

/** A button that downloads all files of the folder of a filter; `null` for another filter. */
export function folderDownload(filter) {
  if (!folderPath(filter) || !folderOwner(filter)) return null
  return button('Download folder', async () => location.assign(await createArchiveDownload({ filter })), 'primary')
}

/** A box that chooses whether each folder is one row. */
export function foldersSwitch(isOn, { filter, order }, reload) {
  const choose = ({ target }) => {
    chooseFolders(target.checked)
    const address = objectsAddress(filter, order)
    // The choice is not in the address if folders are rows.
    if (location.hash === inOrganization(address)) reload()
    else go(address)
  }
  return h('span', { class: 'folders-switch' },
    h('input', { type: 'checkbox', id: 'folders-as-rows', checked: isOn, onchange: choose }),
    h('label', { for: 'folders-as-rows' }, 'Folders as rows'))
}

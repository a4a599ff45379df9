import { deviceLink } from './device-names.js'
import { h, nameLink } from './dom.js'
import { fileIcon } from './file-type.js'
import { formatBytes, timeElement } from './format.js'
import { hasSeveralOrganizations, inOrganization } from './organization-choice.js'
import { pagedTable } from './table.js'

/** A table of objects that `load(pageToken)` loads page by page, with more columns at its end. */
export function objectTable(load, empty, more = []) {
  return pagedTable([
    { title: 'Name', cell: (object) => h('span', { class: 'named' }, fileIcon(object),
      nameLink(object.name, inOrganization(`#/objects/${object.fileId}`, object.organization || undefined))) },
    hasSeveralOrganizations() && { title: 'Organization', cell: (object) => object.organization || null },
    { title: 'Size', isNumber: true, cell: (object) => formatBytes(object.sizeBytes) },
    { title: 'Device', cell: (object) => object.deviceId && deviceLink(object.deviceId, object.organization || undefined) },
    { title: 'Completed', cell: (object) => timeElement(object.verifiedAtUnix, { isShort: true }) },
    ...more,
  ].filter(Boolean), load, empty)
}

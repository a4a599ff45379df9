import { deviceLink } from './device-names.js'
import { nameLink } from './dom.js'
import { fileIcon } from './file-type.js'
import { formatBytes, timeElement } from './format.js'
import { pagedTable } from './table.js'

/** A table of objects that `load(pageToken)` loads page by page, with more columns at its end. */
export function objectTable(load, empty, more = []) {
  return pagedTable([
    { title: 'Name', cell: (object) => [fileIcon(object),
      nameLink(object.name, `#/objects/${object.fileId}`)] },
    { title: 'Size', isNumber: true, cell: (object) => formatBytes(object.sizeBytes) },
    { title: 'Device', cell: (object) => object.deviceId && deviceLink(object.deviceId) },
    { title: 'Completed', cell: (object) => timeElement(object.verifiedAtUnix) },
    ...more,
  ], load, empty)
}

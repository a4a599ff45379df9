import { call } from './api.js'
import { h, pageHeader } from './dom.js'
import { objectTable } from './object-table.js'

/** Shows the objects whose stored bytes no longer match their checksum. */
export async function renderCorruptedObjects(body) {
  body.replaceChildren(
    pageHeader('Corrupted objects'),
    h('p', {}, 'The scrubber regularly reads every object and compares its bytes with its checksum. An object whose '
      + 'bytes changed or whose file is missing is listed here until its file is restored from a backup or the object '
      + 'is deleted.'),
    objectTable(async (pageToken) => {
      const page = await call('management', 'ListBadObjects', { pageSize: 50, pageToken })
      return { rows: page.objects ?? [], next: page.nextPageToken }
    }, 'No corrupted objects.'))
}

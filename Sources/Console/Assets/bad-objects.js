import { call } from './api.js'
import { h, pageHeader } from './dom.js'
import { objectTable } from './objects.js'

/** Objects whose bytes are no more what was verified. */
export async function renderBadObjects(body) {
  body.replaceChildren(
    pageHeader('Bad objects'),
    h('p', {}, 'The scrubber reads every object again. One whose bytes changed, or whose file is gone, stands here until '
      + 'its file was put back from a backup or the object is deleted.'),
    objectTable(async (pageToken) => {
      const page = await call('management', 'ListBadObjects', { pageSize: 50, pageToken })
      return { rows: page.objects ?? [], next: page.nextPageToken }
    }, 'Every object is what it was.'))
}

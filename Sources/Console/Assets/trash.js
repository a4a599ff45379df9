import { call } from './api.js'
import { h, pageHeader } from './dom.js'
import { timeElement } from './format.js'
import { objectTable } from './object-table.js'

/** Shows the objects in the trash; the page of an object has the buttons to restore it or delete it permanently. */
export async function renderTrash(body) {
  const { days = 0 } = await call('management', 'GetTrashSettings')
  body.replaceChildren(
    pageHeader('Trash'),
    h('p', {}, days === 0
      ? 'This organization keeps no trash: deleted objects are removed at once.'
      : `Deleted objects stay here for ${days} ${days === 1 ? 'day' : 'days'}. Open one to restore it or to delete it `
        + 'permanently. Objects in the trash count in quotas.'),
    objectTable(async (pageToken) => {
      const page = await call('objects', 'ListObjects', { pageSize: 50, pageToken, filter: 'trashed=true' })
      return { rows: page.objects ?? [], next: page.nextPageToken }
    }, 'The trash is empty.', [{ title: 'Deleted', cell: (object) => timeElement(object.trashedAt) }]))
}

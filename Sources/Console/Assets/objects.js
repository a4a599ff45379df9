import { call } from './api.js'
import { deviceLink } from './devices.js'
import { h, pageHeader } from './dom.js'
import { formatBytes, timeElement } from './format.js'
import { pagedTable } from './table.js'

/** Shows the objects that match the filter of ListObjects, newest first. */
export async function renderObjects(body, { query }) {
  const filter = query.get('filter') ?? ''
  const input = h('input', {
    id: 'filter', type: 'search', value: filter, spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off',
    placeholder: 'weather=rain size>1MiB age<7d', 'aria-describedby': 'filter-hint',
  })
  const form = h('form', { class: 'search', role: 'search' },
    h('label', { for: 'filter' }, 'Filter'), input, h('button', { type: 'submit', class: 'primary' }, 'Search'))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    location.hash = `#/objects?${new URLSearchParams({ filter: input.value.trim() })}`
  })
  body.replaceChildren(
    pageHeader('Objects'), form,
    h('p', { class: 'hint', id: 'filter-hint' },
      'Terms are combined with AND. OR, NOT and parentheses are available. Examples: ',
      ...filterExamples(['KEY=VALUE', 'name:run07*', 'device=260427-000001', 'site=1', 'size>1MiB',
        'created>=2026-01-31', 'age<7d'])),
    objectTable(async (pageToken) => {
      const page = await call('objects', 'ListObjects', { pageSize: 50, pageToken, filter })
      return { rows: page.objects ?? [], next: page.nextPageToken }
    }, filter ? 'No objects match the filter.' : 'No objects. An object is listed here when its upload is complete.'))
}

function filterExamples(terms) {
  return terms.flatMap((term, index) => [index > 0 && ', ', h('code', {}, term)])
}

/** A table of objects that `load(pageToken)` loads page by page. */
export function objectTable(load, empty) {
  return pagedTable([
    { title: 'Name', cell: (object) => h('a', { href: `#/objects/${object.fileId}` }, object.name) },
    { title: 'Size', isNumber: true, cell: (object) => formatBytes(object.sizeBytes) },
    { title: 'Device', cell: (object) => object.deviceId && deviceLink(object.deviceId) },
    { title: 'Completed', cell: (object) => timeElement(object.verifiedAtUnix) },
    {
      title: 'File id',
      cell: (object) => h('a', { href: `#/objects/${object.fileId}` }, h('code', {}, object.fileId)),
    },
  ], load, empty)
}

import { call } from './api.js'
import { h, pageHeader } from './dom.js'
import { formatBytes, timeElement } from './format.js'
import { pagedTable } from './table.js'

/** What was uploaded and verified, by the filter of ListObjects. */
export async function renderObjects(body, { query }) {
  const filter = query.get('filter') ?? ''
  const input = h('input', {
    id: 'filter', type: 'search', value: filter, spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off',
    placeholder: 'raw_tags.weather=rain size>=1048576', 'aria-describedby': 'filter-hint',
  })
  const form = h('form', { class: 'search', role: 'search' },
    h('label', { for: 'filter' }, 'Filter'), input, h('button', { type: 'submit', class: 'primary' }, 'Find'))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    location.hash = `#/objects?${new URLSearchParams({ filter: input.value.trim() })}`
  })
  body.replaceChildren(
    pageHeader('Objects'), form,
    h('p', { class: 'hint', id: 'filter-hint' },
      'All terms hold: ', ...filterExamples(['raw_tags.KEY=VALUE', 'device=260427-000001', 'site=1', 'size>=1048576',
        'created>=2026-01-31T00:00:00Z'])),
    objectTable(async (pageToken) => {
      const page = await call('objects', 'ListObjects', { pageSize: 50, pageToken, filter })
      return { rows: page.objects ?? [], next: page.nextPageToken }
    }, filter ? 'No object matches the filter.' : 'Nothing has been uploaded yet.'))
}

function filterExamples(terms) {
  return terms.flatMap((term, index) => [index > 0 && ', ', h('code', {}, term)])
}

export function objectTable(load, empty) {
  return pagedTable([
    { title: 'File', cell: (object) => h('a', { href: `#/objects/${object.fileId}` }, h('code', {}, object.fileId)) },
    { title: 'Size', isNumber: true, cell: (object) => formatBytes(object.sizeBytes) },
    { title: 'Begun', cell: (object) => timeElement(object.createdAtUnix) },
    { title: 'Verified', cell: (object) => timeElement(object.verifiedAtUnix) },
  ], load, empty)
}

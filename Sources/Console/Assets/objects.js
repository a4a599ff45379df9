import { hasRole, selectedOrganization } from './api.js'
import { alertMessage, button, h, pageHeader, showNotice } from './dom.js'
import { formatCount } from './format.js'
import { bulkBar } from './object-actions.js'
import { chooseColumns, column, columnWidths, isDefault, parseColumns, shownColumns } from './object-columns.js'
import { facetPanel, filterChips, keepColumns, loadSiteNames, objectsAddress, readFolders, zoneOfFilter } from './object-facets.js'
import { emptyResult, markedFilter } from './filter-outcome.js'
import { firstSteps } from './first-steps.js'
import { filterSuggestions } from './filter-suggestions.js'
import { folderDownload, foldersSwitch, folderTitle, folderTrail } from './object-folders.js'
import { columnClass, ObjectRow } from './object-row.js'
import { fileNameTag, ObjectSource } from './object-source.js'
import { allOrganizations, go } from './organization-choice.js'
import { Selection } from './selection.js'
import { acceptDrops } from './upload-dialog.js'
import { VirtualTable } from './virtual-table.js'
import { wait } from './wait.js'

/** Time between two checks for new objects, in milliseconds. */
const arrivalInterval = 5000
/** Time before the first check for a list that was loaded before, in milliseconds. */
const shortInterval = 500
/** Lists that stay loaded, so that Back shows the same rows. */
const keptLists = 4
const lists = new Map()

/** Returns the list for a filter, an order, a zone, and the options of a source, as it was when the page was left. */
function listFor(filter, order, zone, options) {
  const key = JSON.stringify([selectedOrganization(), filter, order, zone, options])
  const list = lists.get(key)
    ?? { source: new ObjectSource(filter, order, zone, options), selection: new Selection(filter) }
  lists.delete(key)
  lists.set(key, list)
  if (lists.size > keptLists) lists.delete(lists.keys().next().value)
  return list
}

/**
 * Returns the objects before and after one in the list that was shown last and has it, and the address of that list:
 * `{address, previous, next}`; `null` = no list has it.
 */
export async function neighborsOf(fileId) {
  const source = [...lists.values()].map((list) => list.source).findLast(({ byKey }) => byKey.has(fileId))
  if (!source) return null
  const index = source.rows.findIndex((row) => row.key === fileId)
  await source.ensure(index + 2)
  const isFile = (row) => !row.folder
  const address = objectsAddress(source.filter, source.order)
  return {
    address: source.withOrganizations ? allOrganizations(address) : address,
    previous: source.rows.slice(0, index).findLast(isFile), next: source.rows.slice(index + 1).find(isFile),
  }
}

/** Discards the lists, because another user signed in or the objects have changed. */
export function forgetLists() {
  lists.clear()
}

/** Shows the objects that match the filter of ListObjects. */
export async function renderObjects(body, { query, signal, reload }) {
  const filter = query.get('filter') ?? ''
  const order = query.get('sort') ?? ''
  const columns = parseColumns(query.get('columns') ?? '')
  keepColumns(columns)
  const groupFolders = readFolders(query)
  const zone = await zoneOfFilter(filter)
  if (signal.aborted) return
  const { source, selection } = listFor(filter, order, zone, { groupFolders, withTopics: columns.includes('topics') })
  const status = h('p', { class: 'list-status', role: 'status' })
  const message = h('div', {})
  const arrivals = button('Show new objects', () => {
    scrollTo(0, 0)
    arrivals.hidden = true
  }, 'arrivals')
  arrivals.hidden = true
  const names = shownColumns(columns)
  const shown = names.map(column)
  const layout = new ListLayout()
  const list = new VirtualTable({
    label: 'Objects', source, signal, headers: tableHeaders(filter, order, selection, shown),
    createRow: () => new ObjectRow(selection, shown, { source, layout }), onLayout: () => layout.measure(list.table),
  })
  if (!isDefault(names)) {
    list.element.classList.add('chosen')
    list.element.style.setProperty('--chosen', columnWidths(names))
  }
  const facets = facetPanel(source, { filter, order, columns }, reload)
  const isWide = matchMedia('(min-width: 64rem)')
  const side = h('details', { class: 'side', open: isWide.matches }, h('summary', {}, 'Narrow the search'), facets.element)
  // In a narrow window they are closed, and they open again with a wide one, where their summary is hidden.
  isWide.addEventListener('change', () => { side.open = isWide.matches }, { signal })
  const actions = bulkBar(source, selection, () => list.update())

  source.onChange = () => {
    const text = statusText(source, filter)
    if (status.textContent !== text) status.textContent = text
    showOutcome(message, source, filter, order)
    list.element.hidden = source.count === 0
    list.update()
  }
  selection.onChange = () => {
    selection.mark(list.table, source)
    actions.update()
  }
  const choose = button('Columns', () => chooseColumns(columns, tagKeys(source), (names) => {
    go(objectsAddress(filter, order, names))
  }))
  const objects = h('div', { class: 'objects' },
    h('div', { class: 'objects-head' },
      folderTrail(filter, order),
      pageHeader(folderTitle(filter) || 'Objects', status, folderDownload(filter), foldersSwitch(groupFolders, { filter, order }, reload), choose, hasRole('operator') && h('a', { href: '#/uploads', class: 'button' }, 'Upload')),
      searchForm(filter, order, source), filterChips(filter, order)),
    side,
    h('div', { class: 'objects-list' }, actions.element, arrivals, message, list.element))
  if (hasRole('operator')) acceptDrops(objects)
  body.replaceChildren(objects)
  source.onChange()
  selection.onChange()
  list.element.addEventListener('change', (event) => selection.changed(event, source))
  refreshFacets(source, facets, message).then(() => list.invalidate())
  watchArrivals(source, list, arrivals, signal)
}

function searchForm(filter, order, source) {
  const input = h('input', {
    id: 'filter', type: 'search', value: filter, spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off',
    placeholder: 'run07 weather=rain size>1MiB age<7d', 'aria-describedby': 'filter-hint', 'data-shortcut': 'search',
  })
  const form = h('form', { class: 'search', role: 'search' },
    h('label', { for: 'filter' }, 'Filter'),
    h('div', { class: 'suggested' }, input, filterSuggestions(input, source)),
    h('button', { type: 'submit', class: 'primary' }, 'Search'))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    go(objectsAddress(input.value.trim(), order))
  })
  return [form, h('details', { class: 'hint', id: 'filter-hint' }, h('summary', {}, 'Filter syntax'),
    h('p', {}, 'A word finds a part of an object’s, a device’s or a site’s name, or the beginning of a tag’s value. Terms are combined with AND; OR, NOT '
      + 'and parentheses are available. Examples: ',
    ['KEY=VALUE', 'name:run07*', 'device=260427-000001', 'site=1', 'size>1MiB', 'recorded=yesterday', 'age<7d']
      .flatMap((term, index) => [index > 0 && ', ', h('code', {}, term)])))]
}

/** The columns whose head sorts: the title and the order that ListObjects has for it. */
function sortHeader(title, key, filter, order, className) {
  const [currentKey, direction] = order.split(' ')
  const isCurrent = currentKey === key
  const isDescending = isCurrent && direction === 'desc'
  const next = !isCurrent ? (key === 'name' ? key : `${key} desc`) : isDescending ? key : `${key} desc`
  return h('th', { role: 'columnheader', scope: 'col', class: className,
    'aria-sort': isCurrent ? (isDescending ? 'descending' : 'ascending') : null },
  h('a', { href: objectsAddress(filter, next), title: `Sort by ${title.toLowerCase()}` }, title,
    h('span', { 'aria-hidden': 'true' }, isCurrent ? (isDescending ? ' ↓' : ' ↑') : ' ↕')))
}

function tableHeaders(filter, order, selection, columns) {
  return [
    h('th', { role: 'columnheader', scope: 'col', class: 'col-select' }, h('input', {
      type: 'checkbox', 'aria-label': 'Select all objects of the list', 'data-all': true, checked: selection.isAll })),
    sortHeader('Name', 'name', filter, order, 'col-name'),
    ...columns.map((each) => {
      if (each.order) return sortHeader(each.title, each.order, filter, order, columnClass(each))
      if (each.order === '') return completedHeader(each, filter, order)
      return h('th', { role: 'columnheader', scope: 'col', class: columnClass(each), title: each.title }, each.title)
    }),
  ]
}

/** The head of the column whose order, newest first, the list has without another one. */
function completedHeader(column, filter, order) {
  return h('th', { role: 'columnheader', scope: 'col', class: columnClass(column),
    'aria-sort': order === '' ? 'descending' : null },
  h('a', { href: objectsAddress(filter), title: 'Newest first' }, column.title,
    h('span', { 'aria-hidden': 'true' }, order === '' ? ' ↓' : ' ↕')))
}

/** The keys of the tags that the objects of a list have. */
function tagKeys(source) {
  const keys = source.facets.map(({ name }) => name).filter((name) => name.startsWith('raw_tags.'))
    .map((name) => name.slice('raw_tags.'.length))
  return [...new Set([...keys, ...source.tagValues.keys()])].filter((key) => key !== fileNameTag)
}

/** What cells need to know of their widths and fonts, measured once for all rows. */
class ListLayout {
  tagsWidth = 200

  /** The fonts of names and of tags, as CSS writes them. */
  nameFont = '500 14px sans-serif'
  tagFont = '12px sans-serif'

  measure(table) {
    const row = table.tBodies[0].querySelector('tr')
    if (!row) return false
    const name = getComputedStyle(row.querySelector('.row-link'))
    this.nameFont = `${name.fontWeight} ${name.fontSize} ${name.fontFamily}`
    const list = row.querySelector('.tag-list')
    if (!list) return true
    const style = getComputedStyle(list)
    this.tagFont = `${style.fontSize} ${style.fontFamily}`
    this.tagsWidth = list.clientWidth
    return true
  }
}

function statusText(source, filter) {
  if (source.error && source.total === null) return ''
  if (source.total === null) return 'Counting…'
  const count = formatCount(source.total, 'object')
  if (source.isExact) return filter ? `${count} found` : count
  return `More than ${count}`
}

function showOutcome(message, source, filter, order) {
  if (source.error) {
    const marked = markedFilter(filter, source.error.message)
    message.replaceChildren(alertMessage(source.error.message),
      marked ?? button('Try again', () => source.retry()))
  } else if (source.isComplete && source.rows.length === 0) {
    // The counts of the ways out are requested once.
    if (message.firstElementChild?.dataset.filter !== (filter || 'none')) {
      message.replaceChildren(filter ? emptyResult(source, order) : firstSteps())
      message.firstElementChild.dataset.filter = filter || 'none'
    }
  } else {
    message.replaceChildren()
  }
}

async function refreshFacets(source, facets, message) {
  try {
    await Promise.all([source.loadFacets(), loadSiteNames()])
    facets.draw()
    source.onChange()
  } catch (error) {
    if (error.status !== 401 && !source.error) message.replaceChildren(alertMessage(error.message))
  }
}

async function watchArrivals(source, list, notice, signal) {
  let unseen = 0
  // A list that stayed loaded may have missed some meanwhile.
  let interval = source.rows.length > 0 || source.isComplete ? shortInterval : arrivalInterval
  while (!signal.aborted) {
    await wait(interval, signal)
    interval = arrivalInterval
    if (signal.aborted || document.hidden) continue
    try {
      const added = await source.loadArrivals()
      if (signal.aborted || added === 0) continue
      if (list.element.getBoundingClientRect().top > 0) {
        showNotice(`${formatCount(added, 'new object')}.`)
        continue
      }
      // The visible rows stay where they are.
      scrollBy(0, added * list.rowHeight)
      unseen += added
      notice.textContent = `Show ${formatCount(unseen, 'new object')}`
      notice.hidden = false
    } catch (error) {
      if (error.status === 401) return
    }
  }
}

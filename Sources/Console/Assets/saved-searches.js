import { call, hasRole } from './api.js'
import { button, h, showNotice } from './dom.js'
import { showFormDialog } from './dialog.js'
import { formatColumns, isDefault, parseColumns } from './object-columns.js'
import { objectsAddress } from './object-facets.js'

const storageKey = 'console-saved-searches'

function readOwn() {
  try {
    return JSON.parse(localStorage.getItem(storageKey)) ?? []
  } catch {
    return []
  }
}

function writeOwn(searches) {
  localStorage.setItem(storageKey, JSON.stringify(searches))
}

/** Searches under a name: the organization's, which admins save and delete, and those that this browser keeps. */
export function savedSearches({ filter, order, columns }) {
  const section = h('section', { class: 'facet', 'aria-label': 'Saved searches' })
  let shared = []
  const load = async () => {
    try {
      shared = (await call('management', 'ListSavedSearches', {}, { isBackground: true })).savedSearches ?? []
    } catch {
      // The browser's own searches and the list itself do not depend on them.
    }
    draw()
  }
  const save = () => saveSearch({ filter, order, columns }, load)
  const forget = async (search) => {
    if (search.searchId) await call('management', 'DeleteSavedSearch', { searchId: search.searchId })
    else writeOwn(readOwn().filter(({ name }) => name !== search.name))
    await load()
  }
  const item = (search, mayDelete) => h('li', { class: 'saved' },
    h('a', { href: objectsAddress(search.filter ?? '', search.orderBy ?? search.order ?? '', parseColumns((search.columns ?? []).join(','))) },
      search.name),
    mayDelete && deleteButton(search, forget))
  const draw = () => {
    const own = readOwn()
    section.hidden = shared.length + own.length === 0 && !filter && !order && isDefault(columns)
    section.replaceChildren(...[
      h('h2', {}, 'Saved searches'),
      shared.length > 0 && h('ul', {}, shared.map((search) => item(search, hasRole('admin')))),
      own.length > 0 && h('h3', {}, 'In this browser'),
      own.length > 0 && h('ul', {}, own.map((search) => item(search, true))),
      (filter || order || !isDefault(columns)) && button('Save this search', save, 'link'),
    ].filter(Boolean))
  }
  draw()
  load()
  return section
}

function deleteButton(search, forget) {
  const element = button('×', () => forget(search), 'link')
  element.setAttribute('aria-label', `Delete search ${search.name}`)
  return element
}

function saveSearch({ filter, order, columns }, saved) {
  const isAdmin = hasRole('admin')
  const chosen = isDefault(columns) ? [] : columns
  return showFormDialog({
    title: 'Save this search', submit: 'Save',
    text: isAdmin ? 'All users of the organization see the search; one of the same name is replaced.'
      : 'The search is saved in this browser. To share it, copy the address of the page, or ask an admin to save it.',
    fields: [{ name: 'name', label: 'Name', required: true, maxlength: 80 }],
    action: async ({ name }) => {
      const columnNames = chosen.map((each) => formatColumns([each]))
      if (isAdmin) {
        await call('management', 'SaveSearch', { name, filter, orderBy: order, columns: columnNames })
      } else {
        writeOwn([...readOwn().filter((each) => each.name !== name), { name, filter, order, columns: columnNames }])
      }
      showNotice(`Search “${name}” was saved.`)
      await saved()
    },
  })
}

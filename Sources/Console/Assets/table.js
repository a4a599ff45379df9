import { alertBox, button, h } from './dom.js'

/**
 * A table of rows; on a narrow screen each row is a card.
 *
 * `columns`: `{title, cell(row)}`, a number's with `isNumber`. `empty`: what is said where there is none.
 */
export function table(columns, rows, empty) {
  if (rows.length === 0) return h('p', { class: 'empty' }, empty)
  // The roles are a table's own, but for the narrow screen's sheet, which takes them away.
  return h('div', { class: 'scroll' }, h('table', { role: 'table' },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map((column) =>
      h('th', { role: 'columnheader', scope: 'col', class: kind(column) }, column.title)))),
    h('tbody', { role: 'rowgroup' }, rows.map((row) => rowOf(columns, row)))))
}

function rowOf(columns, row) {
  return h('tr', { role: 'row' }, columns.map((column) =>
    h('td', { role: 'cell', 'data-label': column.title, class: kind(column) }, column.cell(row) ?? '–')))
}

function kind(column) {
  return column.isNumber ? 'number' : column.isActions ? 'row-actions' : null
}

/** Shows in `place` what became of the table there. Cells that say the same stay, and with them whoever stands on their link. */
export function updateTable(place, fresh) {
  const [before, after] = [place, fresh].map((each) => [...each.querySelectorAll('td')])
  if (before.length === 0 || before.length !== after.length) return place.replaceChildren(fresh)
  before.forEach((cell, index) => {
    if (cell.textContent !== after[index].textContent) cell.replaceChildren(...after[index].childNodes)
  })
}

/**
 * A list that comes in pages: shows the first, and has a button for the next as long as there is one.
 *
 * `load(pageToken)` answers `{rows, next}`.
 */
export function pagedTable(columns, load, empty) {
  const list = h('div', {}, h('p', { class: 'empty' }, 'Loading…'))
  let rows = []
  let next = ''

  async function extend() {
    const page = await load(next)
    const known = rows.length
    rows = rows.concat(page.rows)
    next = page.next
    list.replaceChildren(table(columns, rows, next ? 'None so far.' : empty))
    more.hidden = !next
    // Who pressed the button goes on with what is new.
    if (known > 0) list.querySelectorAll('tbody tr')[known]?.querySelector('a, button')?.focus()
  }

  const more = button('Show more', extend, 'more')
  more.hidden = true
  extend().catch((error) => list.replaceChildren(alertBox(error.message)))
  return h('div', {}, list, more)
}

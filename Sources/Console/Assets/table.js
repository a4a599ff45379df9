import { alertMessage, button, h } from './dom.js'

/**
 * A table; on a narrow screen each row becomes a card.
 *
 * `columns`: `{title, cell(row), isNumber, isActions, isMinor}`; a card has no minor ones. `empty`: the text that replaces a table without rows. `key(row)`:
 * identifies a row of a table that is updated.
 */
export function table(columns, rows, empty, key = () => null) {
  if (rows.length === 0) return h('p', { class: 'empty' }, empty)
  // The style for narrow screens sets `display: block`, which removes the implicit roles of a table.
  return h('div', { class: 'scroll' }, h('table', { role: 'table' },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map((column) =>
      h('th', { role: 'columnheader', scope: 'col', class: cellClass(column) }, column.title)))),
    h('tbody', { role: 'rowgroup' }, rows.map((row) => tableRow(columns, row, key)))))
}

function tableRow(columns, row, key) {
  return h('tr', { role: 'row', 'data-key': key(row) }, columns.map((column) => {
    const content = column.cell(row)
    return h('td', { role: 'cell', 'data-label': column.title, class: cellClass(column, content) }, cellContent(column, content))
  }))
}

/** The parts of a value stay together: a card aligns each child of a cell by itself. */
function cellContent(column, value) {
  const content = value ?? '–'
  return Array.isArray(content) && !column.isActions ? h('span', {}, content) : content
}

/** `content`: a cell without one is vacant. */
function cellClass(column, content = '') {
  return [content === null && 'vacant', column.isNumber && 'number', column.isActions && 'row-actions', column.isMinor && 'minor'].filter(Boolean).join(' ') || null
}

/**
 * Replaces the table in `container`. Rows with the same `key`, and their unchanged cells, are kept, so that a focused
 * control keeps the focus.
 */
export function updateTable(container, newTable) {
  const [before, after] = [container, newTable].map((each) => [...each.querySelectorAll('tbody tr')])
  if (before.length === 0 || before.length !== after.length) return container.replaceChildren(newTable)
  before.forEach((row, index) => {
    const replacement = after[index]
    // A kept control would act on the row that was here before.
    if (row.dataset.key !== replacement.dataset.key) return row.replaceWith(replacement)
    return [...row.cells].forEach((cell, at) => {
      const newCell = replacement.cells[at]
      if (cell.isEqualNode(newCell)) return
      cell.className = newCell.className
      cell.replaceChildren(...newCell.childNodes)
    })
  })
}

/**
 * A table that loads page by page: it shows the first page, and a button while there are more pages.
 *
 * `load(pageToken)` resolves to `{rows, next}`; `next` is the next page's token, empty after the last page.
 */
export function pagedTable(columns, load, empty) {
  const list = h('div', {}, h('p', { class: 'empty' }, 'Loading…'))
  let rows = []
  let next = ''

  async function extend() {
    const page = await load(next)
    const previousCount = rows.length
    rows = rows.concat(page.rows)
    next = page.next
    list.replaceChildren(table(columns, rows, next ? 'No matches so far. Select “Show more” to continue.' : empty))
    more.hidden = !next
    // The keyboard focus moves to the first new row.
    if (previousCount > 0) list.querySelectorAll('tbody tr')[previousCount]?.querySelector('a, button')?.focus()
  }

  const more = button('Show more', extend, 'more')
  more.hidden = true
  extend().catch((error) => list.replaceChildren(alertMessage(error.message)))
  return h('div', {}, list, more)
}

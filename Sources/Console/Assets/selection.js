import { objectsOf } from './object-source.js'

/** The selected objects of a list: some of its rows, or all objects that match its filter. */
export class Selection {
  constructor(filter) {
    this.filter = filter
    this.isAll = false
    /** The selected rows by key. */
    this.rows = new Map()
    this.lastIndex = -1
    this.onChange = () => {}
  }

  has(row) {
    return this.isAll || this.rows.has(row.key)
  }

  get isEmpty() {
    return !this.isAll && this.rows.size === 0
  }

  /** The bytes of the selected rows. */
  get bytes() {
    return [...this.rows.values()].reduce((sum, row) => sum + row.size, 0)
  }

  /** The number of objects of the selected rows. */
  get objects() {
    return [...this.rows.values()].reduce((sum, row) => sum + objectsOf(row), 0)
  }

  /** The selected rows that are folders. */
  get folders() {
    return [...this.rows.values()].filter((row) => row.folder)
  }

  clear() {
    this.isAll = false
    this.rows.clear()
    this.onChange()
  }

  /** Selects or deselects a row. */
  toggle(row) {
    if (this.isAll) return
    if (!this.rows.delete(row.key)) this.rows.set(row.key, row)
    this.onChange()
  }

  /** Handles a change of a checkbox of the list; with the Shift key it applies to all rows since the last change. */
  changed({ target }, source) {
    if (target.dataset.all !== undefined) {
      this.isAll = target.checked
      this.rows.clear()
      return this.onChange()
    }
    const index = Number(target.dataset.index)
    if (!Number.isInteger(index) || !source.rows[index]) return undefined
    if (this.isAll) {
      // All but this one cannot be expressed: the selection starts again.
      this.isAll = false
      return this.onChange()
    }
    const start = this.isRange && this.lastIndex >= 0 ? this.lastIndex : index
    for (let at = Math.min(start, index); at <= Math.max(start, index); at += 1) {
      const row = source.rows[at]
      if (target.checked) this.rows.set(row.key, row)
      else this.rows.delete(row.key)
    }
    this.lastIndex = index
    return this.onChange()
  }

  /** Shows the selection in the rendered rows. */
  mark(table, source) {
    table.querySelector('[data-all]').checked = this.isAll
    for (const input of table.querySelectorAll('[data-index]')) {
      const row = source.rows[Number(input.dataset.index)]
      input.checked = Boolean(row) && this.has(row)
      input.closest('tr').classList.toggle('selected', input.checked)
    }
  }
}

/** Whether the Shift key is down, which a change event does not say. */
for (const type of ['keydown', 'keyup', 'pointerdown']) {
  addEventListener(type, (event) => { Selection.prototype.isRange = event.shiftKey }, { capture: true, passive: true })
}

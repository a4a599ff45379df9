import { h } from './dom.js'

/** Rows that are rendered above and below the visible ones. */
const overscan = 6

/**
 * A table of any length in the page's own scroll area, of which only the visible rows exist.
 *
 * `headers`: elements `th`. `createRow()` returns a row `{element, show(row, index)}`, whose element is a `tr`; rows that leave
 * the screen show others again, since making elements takes most of a frame's time. `source` has `rows`, `count` (including
 * rows that are not loaded yet) and `ensure(end)`, which loads the rows before `end` and then calls `update()` of the table.
 * All rows have the height `--row-height` of the style. `onLayout()` is called when rows are drawn in a new width; it returns whether
 * it could measure them, and they are then shown again.
 */
export class VirtualTable {
  constructor({ label, headers, createRow, source, signal, onLayout = () => true }) {
    this.source = source
    this.onLayout = onLayout
    this.createRow = createRow
    this.rendered = new Map()
    this.spare = []
    this.body = h('tbody', { role: 'rowgroup' })
    this.table = h('table', { role: 'table', 'aria-label': label, class: 'virtual-table' },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row', 'aria-rowindex': 1 }, headers)), this.body)
    this.element = h('div', { class: 'virtual' }, this.table)
    this.element.virtualTable = this
    addEventListener('scroll', () => this.schedule(), { passive: true, signal })
    addEventListener('resize', () => {
      this.rowHeight = 0
      this.isMeasured = false
      this.update()
    }, { signal })
    this.body.addEventListener('keydown', (event) => this.moveFocus(event))
  }

  /** Renders in the next frame. */
  schedule() {
    if (this.isScheduled) return
    this.isScheduled = true
    requestAnimationFrame(() => {
      this.isScheduled = false
      this.render()
    })
  }

  /** Renders again after the source's rows have changed. */
  update() {
    if (!this.element.isConnected) return
    if (!this.rowHeight) {
      this.rowHeight = parseFloat(getComputedStyle(this.element).getPropertyValue('--row-height'))
      this.headHeight = this.table.tHead.offsetHeight
      this.place()
    }
    const { count } = this.source
    if (count !== this.shownCount) {
      this.shownCount = count
      this.body.style.height = `${count * this.rowHeight}px`
      this.table.setAttribute('aria-rowcount', count + 1)
    }
    this.render()
  }

  /** Moves the rendered rows to where rows of the current height are. */
  place() {
    this.shownCount = -1
    for (const [index, row] of this.rendered) row.element.style.top = `${index * this.rowHeight}px`
  }

  /** Renders the rows again, because what their cells show has changed. */
  invalidate() {
    for (const [index, row] of this.rendered) {
      row.row = this.source.rows[index]
      row.show(row.row, index)
    }
    this.update()
  }

  render() {
    if (!this.element.isConnected || !this.rowHeight) return
    const top = this.element.getBoundingClientRect().top + this.headHeight
    const { count, rows } = this.source
    const first = Math.max(0, Math.min(count - 1, Math.floor(-top / this.rowHeight) - overscan))
    const last = Math.min(count, Math.max(0, Math.ceil((innerHeight - top) / this.rowHeight)) + overscan)
    this.release(first, last)
    let next = this.body.firstElementChild
    for (let index = first; index < last; index += 1) {
      let row = this.rendered.get(index)
      if (!row) {
        row = this.spare.pop() ?? this.createRow()
        row.isNew = true
        row.element.isSpare = false
        row.element.style.top = `${index * this.rowHeight}px`
        this.rendered.set(index, row)
      }
      if (row.isNew || row.row !== rows[index]) {
        Object.assign(row, { isNew: false, row: rows[index] })
        row.element.index = index
        row.element.ariaRowIndex = index + 2
        row.show(rows[index], index)
      }
      // Rows that stay are not moved, because a row that is moved loses the focus.
      while (next?.isSpare) next = next.nextElementSibling
      // The order of the elements is that of the rows, for screen readers and the Tab key.
      if (row.element !== next) this.body.insertBefore(row.element, next)
      next = row.element.nextElementSibling
    }
    for (const row of this.spare) row.element.remove()
    this.source.ensure(last + overscan)
    if (!this.isMeasured && this.rendered.size > 0 && this.onLayout()) {
      this.isMeasured = true
      for (const [index, row] of this.rendered) row.show(row.row, index)
    }
  }

  /** Takes back the rows that are not among those from `first` to before `last`. */
  release(first, last) {
    const focused = document.activeElement?.closest('tr')
    for (const [index, row] of this.rendered) {
      if (index >= first && index < last) continue
      // The focus does not move to the row that its element shows next.
      if (row.element === focused) document.activeElement.blur()
      this.rendered.delete(index)
      row.element.isSpare = true
      this.spare.push(row)
    }
  }

  /** Scrolls so that a row is visible, and moves the focus to its link. */
  focusRow(index) {
    const target = Math.max(0, Math.min(this.source.count - 1, index))
    const top = this.element.getBoundingClientRect().top + this.headHeight + target * this.rowHeight
    if (top < this.headHeight) scrollBy(0, top - this.headHeight - this.rowHeight)
    if (top + 2 * this.rowHeight > innerHeight) scrollBy(0, top + 2 * this.rowHeight - innerHeight)
    this.render()
    this.rendered.get(target)?.element.querySelector('a')?.focus({ preventScroll: true })
  }

  /** The index of the row with the focus; -1 without a focus. */
  get focusedIndex() {
    return document.activeElement?.closest('.virtual-table tbody tr')?.index ?? -1
  }

  /** Moves the focus by some rows; without a focus, to the first row below the head. */
  moveRow(step) {
    const current = this.focusedIndex
    const top = this.element.getBoundingClientRect().top
    this.focusRow(current < 0 ? Math.ceil(Math.max(0, -top / this.rowHeight)) : current + step)
  }

  moveFocus(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }
    const step = steps[event.key]
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    this.moveRow(step)
  }
}

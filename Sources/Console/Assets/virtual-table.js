import { h } from './dom.js'

/** Rows that are rendered above and below the visible ones. */
const overscan = 12

/**
 * A table of any length in the page's own scroll area, of which only the visible rows exist.
 *
 * `headers`: elements `th`. `createRow(row, index)` returns the cells of a row. `source` has `rows`, `count` (including
 * rows that are not loaded yet) and `ensure(end)`, which loads the rows before `end` and then calls `update()` of the table.
 * All rows have the height `--row-height` of the style.
 */
export class VirtualTable {
  constructor({ label, headers, createRow, source, signal }) {
    this.source = source
    this.createRow = createRow
    this.columnCount = headers.length
    this.rendered = new Map()
    this.body = h('tbody', { role: 'rowgroup' })
    this.table = h('table', { role: 'table', 'aria-label': label, class: 'virtual-table' },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row', 'aria-rowindex': 1 }, headers)), this.body)
    this.element = h('div', { class: 'virtual' }, this.table)
    const schedule = () => this.schedule()
    addEventListener('scroll', schedule, { passive: true, signal })
    addEventListener('resize', () => this.update(), { signal })
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
    this.rowHeight = parseFloat(getComputedStyle(this.element).getPropertyValue('--row-height'))
    this.headHeight = this.table.tHead.offsetHeight
    this.element.style.height = `${this.headHeight + this.source.count * this.rowHeight + 1}px`
    this.table.setAttribute('aria-rowcount', this.source.count + 1)
    this.render()
  }

  /** Renders the rows anew, because what their cells show has changed. */
  invalidate() {
    this.body.replaceChildren()
    this.rendered.clear()
    this.update()
  }

  render() {
    if (!this.element.isConnected || !this.rowHeight) return
    const top = this.element.getBoundingClientRect().top + this.headHeight
    const { count, rows } = this.source
    const first = Math.max(0, Math.min(count - 1, Math.floor(-top / this.rowHeight) - overscan))
    const last = Math.min(count, Math.max(0, Math.ceil((innerHeight - top) / this.rowHeight)) + overscan)
    this.table.style.top = `${first * this.rowHeight}px`
    for (const [index, element] of this.rendered) {
      if (index >= first && index < last && element.row === rows[index]) continue
      element.remove()
      this.rendered.delete(index)
    }
    let next = this.body.firstElementChild
    for (let index = first; index < last; index += 1) {
      let element = this.rendered.get(index)
      if (!element) {
        element = this.rowElement(rows[index], index)
        this.rendered.set(index, element)
        this.body.insertBefore(element, next)
      } else {
        next = element.nextElementSibling
      }
    }
    this.source.ensure(last + overscan)
  }

  rowElement(row, index) {
    const element = h('tr', { role: 'row', 'aria-rowindex': index + 2, class: row ? null : 'loading' },
      row ? this.createRow(row, index) : h('td', { role: 'cell', colspan: this.columnCount }, 'Loading…'))
    element.row = row
    element.index = index
    return element
  }

  /** Scrolls so that a row is visible, and moves the focus to its link. */
  focusRow(index) {
    const target = Math.max(0, Math.min(this.source.count - 1, index))
    const top = this.element.getBoundingClientRect().top + this.headHeight + target * this.rowHeight
    if (top < this.headHeight) scrollBy(0, top - this.headHeight - this.rowHeight)
    if (top + 2 * this.rowHeight > innerHeight) scrollBy(0, top + 2 * this.rowHeight - innerHeight)
    this.render()
    this.rendered.get(target)?.querySelector('a')?.focus({ preventScroll: true })
  }

  /** The index of the row with the focus; -1 if there is none. */
  get focusedIndex() {
    return document.activeElement?.closest('.virtual-table tbody tr')?.index ?? -1
  }

  moveFocus(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }
    const step = steps[event.key]
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    this.focusRow(this.focusedIndex + step)
  }
}

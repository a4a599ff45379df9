import { h } from './dom.js'
import { fileIcon, showFileKind } from './file-type.js'
import { formatCount } from './format.js'
import { objectsAddress } from './object-facets.js'
import { inOrganization } from './organization-choice.js'
import { textWidth } from './text-width.js'

/** The end of a long name that stays visible, in characters: where names of recordings differ. */
const tailLength = 22

/** A row of the list of objects, which shows one object after another. */
export class ObjectRow {
  /** `columns`: those of `object-columns.js`; `context`: what their cells need. */
  constructor(selection, columns, context) {
    this.selection = selection
    this.context = context
    this.box = h('input', { type: 'checkbox' })
    this.icon = fileIcon({})
    this.head = h('span', { class: 'name-head' })
    this.tail = h('span', { class: 'name-tail' })
    this.name = h('a', { class: 'row-link' }, this.head, this.tail)
    /** The number of files of a folder. */
    this.files = h('small', { class: 'folder-files' })
    this.cells = columns.map((column) => ({ column, ...column.create(context) }))
    const cell = (label, className, ...content) =>
      h('td', { role: 'cell', 'data-label': label, class: className }, ...content)
    this.element = h('tr', { role: 'row' },
      cell('', 'col-select', this.box), cell('Name', 'col-name', this.icon, this.name, this.files),
      this.cells.map(({ column, element }) => cell(column.title, columnClass(column), element)))
  }

  /** Shows an object; `undefined` = it is still being loaded. */
  show(row, index) {
    const isSelected = Boolean(row) && this.selection.has(row)
    this.element.className = row ? (isSelected ? 'selected' : '') : 'loading'
    this.box.checked = isSelected
    this.box.dataset.index = index
    this.box.ariaLabel = `Select ${row?.name ?? 'the object'}`
    this.icon.style.visibility = row ? '' : 'hidden'
    this.files.textContent = row?.folder ? filesText(row.folder) : ''
    for (const { show } of this.cells) show(row)
    if (!row) {
      this.name.removeAttribute('href')
      // The focus can be on it while it is loaded.
      this.name.tabIndex = -1
      this.showName('Loading…')
      return
    }
    showFileKind(this.icon, row)
    this.name.tabIndex = 0
    // In a list of all organizations, each object opens in its own.
    this.name.href = inOrganization(row.folder ? objectsAddress(row.folder.filter) : `#/objects/${row.fileId}`,
      row.organization || undefined)
    this.name.title = row.folder?.path ?? row.name
    this.showName(row.name)
  }

  /** A name that is too long loses its middle. */
  showName(name) {
    const [head, tail] = nameParts(name)
    this.head.textContent = head
    this.tail.textContent = tail
    this.head.style.maxWidth = tail ? `calc(100% - ${textWidth(tail, this.context.layout.nameFont)}px)` : '100%'
  }
}

function filesText({ objects, isLowerBound }) {
  return `${isLowerBound ? 'at least ' : ''}${formatCount(objects, 'file')}`
}

/** A name in two parts: the beginning, which may become shorter, and the end, which is empty for a short name. */
export function nameParts(name) {
  const characters = [...name]
  const cut = characters.length > tailLength + 4 ? characters.length - tailLength : characters.length
  return [characters.slice(0, cut).join(''), characters.slice(cut).join('')]
}

export function columnClass({ name, isNumber }) {
  const known = name.startsWith('tag:') ? 'tag-value' : name
  return `col-${known}${isNumber ? ' number' : ''}`
}

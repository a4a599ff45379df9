import { hasRole } from './api.js'
import { h } from './dom.js'
import { fileIcon, showFileKind } from './file-type.js'
import { formatBytes, timeTexts } from './format.js'
import { siteName } from './object-facets.js'

/** Tags that a row shows. */
const shownTags = 2

/** A row of the list of objects, which shows one object after another. */
export class ObjectRow {
  constructor(selection) {
    this.selection = selection
    this.box = h('input', { type: 'checkbox' })
    this.icon = fileIcon({})
    this.name = h('a', { class: 'row-link' })
    this.device = h(hasRole('operator') ? 'a' : 'span', { class: 'id' })
    this.site = h('span')
    this.tags = h('span')
    this.size = document.createTextNode('')
    this.started = h('time')
    this.completed = h('time')
    const cell = (label, className, ...content) =>
      h('td', { role: 'cell', 'data-label': label, class: className }, ...content)
    this.element = h('tr', { role: 'row' },
      cell('', 'col-select', this.box), cell('Name', 'col-name', this.icon, this.name),
      cell('Device', 'col-device', this.device), cell('Site', 'col-site', this.site),
      cell('Tags', 'col-tags', this.tags), cell('Size', 'col-size number', this.size),
      cell('Started', 'col-started', this.started), cell('Completed', 'col-completed', this.completed))
  }

  /** Shows an object; `undefined` = it is still being loaded. */
  show(row, index) {
    const isSelected = Boolean(row) && this.selection.has(row)
    this.element.className = row ? (isSelected ? 'selected' : '') : 'loading'
    this.box.checked = isSelected
    this.box.dataset.index = index
    this.box.ariaLabel = `Select ${row?.name ?? 'the object'}`
    this.icon.style.visibility = row ? '' : 'hidden'
    if (!row) return this.clear()
    showFileKind(this.icon, row)
    this.name.href = `#/objects/${row.fileId}`
    this.name.title = row.name
    this.name.textContent = row.name
    this.device.textContent = row.deviceId || '–'
    if (row.deviceId) this.device.href = `#/devices/${row.deviceId}`
    else this.device.removeAttribute('href')
    this.site.textContent = this.site.title = siteName(row.siteId)
    if (this.shownTags !== row.tags) this.showTags(row.tags)
    this.size.data = formatBytes(row.size)
    showTime(this.started, row.createdAt)
    showTime(this.completed, row.completedAt)
    if (row.recordedFrom) this.started.title += `\nRecorded ${row.recordedFrom} to ${row.recordedTo ?? '?'}`
    return undefined
  }

  clear() {
    this.name.removeAttribute('href')
    this.name.textContent = 'Loading…'
    this.size.data = ''
    this.showTags({})
    for (const element of [this.device, this.site, this.started, this.completed]) element.textContent = ''
  }

  showTags(tags) {
    const entries = Object.entries(tags).sort()
    this.shownTags = tags
    this.tags.title = entries.map(([key, value]) => `${key}=${value}`).join('\n')
    this.tags.replaceChildren(
      ...entries.slice(0, shownTags).map(([key, value]) => h('span', { class: 'tag' }, h('b', {}, key), ` ${value}`)),
      entries.length > shownTags ? `+${entries.length - shownTags}` : '')
  }
}

function showTime(element, seconds) {
  if (!seconds) {
    element.textContent = '–'
    return
  }
  const { iso, short } = timeTexts(seconds)
  element.dateTime = element.title = iso
  element.textContent = short
}

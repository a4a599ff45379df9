import { hasRole } from './api.js'
import { deviceName, withDeviceName } from './device-names.js'
import { showFormDialog } from './dialog.js'
import { h } from './dom.js'
import { formatBytes, formatDuration, tagText, timeTexts } from './format.js'
import { siteName } from './object-facets.js'
import { hasSeveralOrganizations, inOrganization } from './organization-choice.js'
import { textWidth } from './text-width.js'

/** The columns beside the name, in their order: `{title, width, order, create(context)}`; `order`: the key by which the list sorts. */
const types = {
  organization: { title: 'Organization', width: 'minmax(5rem, 1fr)', create: () => textCell((row) => row.organization) },
  device: { title: 'Device', width: 'minmax(8.5rem, 1fr)', create: deviceCell },
  site: { title: 'Site', width: 'minmax(5rem, 1fr)', create: () => textCell((row) => siteName(row.siteId)) },
  tags: { title: 'Tags', width: 'minmax(8rem, 2fr)', create: tagsCell },
  size: { title: 'Size', width: '5.5rem', order: 'size', isNumber: true, create: () => textCell((row) => formatBytes(row.size)) },
  started: { title: 'Started', width: '8.5rem', order: 'created', create: ({ source }) => timeCell(source, (row) => row.createdAt) },
  recorded: { title: 'Recorded', width: '8.5rem', order: 'recorded', create: ({ source }) => timeCell(source, (row) => seconds(row.recordedFrom)) },
  duration: { title: 'Duration', width: '7.5rem', isNumber: true, create: () => textCell(duration) },
  topics: { title: 'Topics', width: 'minmax(8rem, 2fr)', create: () => textCell((row) => row.topics) },
  completed: { title: 'Completed', width: '8.5rem', order: '', create: ({ source }) => timeCell(source, (row) => row.completedAt) },
}
/** The column that a list of all organizations has before the chosen ones. */
const organizationColumn = 'organization'
const defaultColumns = ['device', 'site', 'tags', 'size', 'started', 'completed']
const tagPrefix = 'tag:'
/** Columns that have space beside each other. */
const mostColumns = 10

/** The columns in an address, `device,size,tag:run`; the default ones if it names none. */
export function parseColumns(text) {
  const names = text.split(',').map((name) => name.replaceAll('%2C', ',').replaceAll('%25', '%'))
    .filter((name) => (types[name] && name !== organizationColumn) || name.startsWith(tagPrefix))
  return names.length > 0 ? [...new Set(names)].slice(0, mostColumns) : defaultColumns
}

export function formatColumns(names) {
  return names.map((name) => name.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',')
}

export function isDefault(names) {
  return names === defaultColumns
}

/** The column of a name. */
export function column(name) {
  if (!name.startsWith(tagPrefix)) return { name, ...types[name] }
  const key = name.slice(tagPrefix.length)
  return { name, title: key, width: 'minmax(4rem, 1fr)', create: () => textCell((row) => row.tags[key]) }
}

/** The columns that are shown: with the organizations of a list of all, for which two of the default ones make space. */
export function shownColumns(names) {
  if (!hasSeveralOrganizations()) return names
  return [organizationColumn, ...(isDefault(names) ? names.filter((name) => name !== 'site' && name !== 'started') : names)]
}

/** The widths of the table's columns, for chosen ones. */
export function columnWidths(names) {
  return ['2.75rem', 'minmax(12rem, 26rem)', ...names.map((name) => column(name).width)].join(' ')
}

/** Opens a dialog in which columns are chosen; `keys`: the keys of tags that are offered. `apply(names)`: for the chosen ones. */
export function chooseColumns(names, keys, apply) {
  const tags = [...new Set([...names.filter((name) => name.startsWith(tagPrefix)), ...keys.map((key) => tagPrefix + key)])]
  const offered = [...Object.keys(types).filter((name) => name !== organizationColumn), ...tags]
  const box = (name, index) => ({ name: `column-${index}`, type: 'checkbox', value: names.includes(name),
    label: name.startsWith(tagPrefix) ? `Tag ${name.slice(tagPrefix.length)}` : types[name].title })
  return showFormDialog({
    title: 'Columns', submit: 'Show',
    text: 'The address of the page contains the columns.',
    fields: [...offered.map(box), { name: 'other', label: 'Another tag', placeholder: 'KEY', autocomplete: 'off' }],
    action: (values) => {
      const chosen = offered.filter((_, index) => values[`column-${index}`])
      const other = values.other.trim()
      if (other && !chosen.includes(tagPrefix + other)) chosen.push(tagPrefix + other)
      if (chosen.length === 0) throw new Error('Choose at least one column.')
      if (chosen.length > mostColumns) throw new Error(`Choose at most ${mostColumns} columns.`)
      // Those that were shown keep their order, with the new ones after them.
      apply([...names.filter((name) => chosen.includes(name)), ...chosen.filter((name) => !names.includes(name))])
    },
  })
}

/** A cell with a text; an empty one is a dash. */
function textCell(text) {
  const element = h('span')
  const show = (row) => { element.textContent = element.title = row ? text(row) || '–' : '' }
  return { element, show }
}

/** A time in the zone of the list. */
function timeCell(source, time) {
  const element = h('time')
  const show = (row) => {
    const value = row && time(row)
    if (!value) {
      element.removeAttribute('datetime')
      element.title = ''
      element.textContent = row ? '–' : ''
      return
    }
    const { iso, brief } = timeTexts(value, source.zone)
    element.dateTime = element.title = iso
    element.textContent = brief
    if (row.recordedFrom) element.title += `\nRecorded ${row.recordedFrom} to ${row.recordedTo ?? '?'}`
  }
  return { element, show }
}

function seconds(time) {
  return time ? Date.parse(time) / 1000 : 0
}

function duration({ recordedFrom, recordedTo }) {
  return recordedFrom && recordedTo ? formatDuration(Math.max(0, seconds(recordedTo) - seconds(recordedFrom))) : ''
}

/** The device's name, and below it its id; the id alone for a device without a name. */
function deviceCell() {
  const isLink = hasRole('operator')
  const name = h(isLink ? 'a' : 'span')
  const id = h('small', { class: 'id' })
  let shown = ''
  const showName = (text) => {
    name.textContent = name.title = text || shown
    name.classList.toggle('id', !text)
    id.textContent = text ? shown : ''
  }
  const show = (row) => {
    shown = row ? row.deviceId || '–' : ''
    const organization = row?.organization || undefined
    if (isLink && row?.deviceId) name.href = inOrganization(`#/devices/${row.deviceId}`, organization)
    else name.removeAttribute('href')
    showName(row?.deviceId ? deviceName(row.deviceId, organization) : '')
    const wanted = row?.deviceId
    if (wanted) withDeviceName(wanted, (text) => { if (shown === wanted) showName(text) }, organization)
  }
  return { element: h('span', { class: 'device' }, name, id), show }
}

/** Space of a tag beside its text, the widest tag, space of “+N”, and the least space for a tag that is cut, in pixels. */
const [tagSpace, widestTag, moreSpace, leastSpace] = [22, 150, 34, 48]

/** As many tags as there is space for, those first that tell most, and the number of the others. */
function tagsCell({ source, layout }) {
  const element = h('span', { class: 'tag-list' })
  let shown
  const show = (row) => {
    const tags = row?.tags ?? {}
    const state = `${layout.tagsWidth} ${source.tagsVersion}`
    if (shown?.tags === tags && shown.state === state) return
    shown = { tags, state }
    const entries = Object.entries(tags).sort(source.compareTags)
    element.title = entries.map(([key, value]) => `${key}=${value}`).join('\n')
    const count = fitting(entries, layout)
    const rest = entries.length - count
    element.replaceChildren(
      ...entries.slice(0, count).map(([key, value]) => h('span', { class: 'tag' }, tagText(key, value))),
      ...(rest > 0 ? [h('span', { class: 'more-tags' }, `+${rest}`)] : []))
  }
  return { element, show }
}

/** The number of tags that a width has space for, at least one. */
function fitting(entries, { tagsWidth, tagFont }) {
  let used = 0
  for (const [index, [key, value]] of entries.entries()) {
    const width = Math.min(widestTag, textWidth(key, `600 ${tagFont}`) + textWidth(` ${value}`, tagFont) + tagSpace)
    const isLast = index === entries.length - 1
    const space = tagsWidth - used - (isLast ? 0 : moreSpace)
    // A tag that does not fit is cut if it is the first one, or if there is space for a part of it.
    if (width > space) return index === 0 || space >= leastSpace + moreSpace ? index + 1 : index
    used += width
  }
  return entries.length
}

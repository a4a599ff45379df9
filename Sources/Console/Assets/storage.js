import { call, hasRole, selectedOrganization, session } from './api.js'
import { formField } from './dialog.js'
import { diskOf, fullText, growthText, usedPercent, usedText } from './disk.js'
import { h, pageHeader } from './dom.js'
import { termFor, withDateRange } from './filter-terms.js'
import { dayText, formatBytes, formatCount } from './format.js'
import { objectsAddress } from './object-facets.js'
import { table } from './table.js'
import { callInZone, chosenZone } from './time-zone.js'

const groups = [['site', 'Site'], ['device', 'Device'], ['content_type', 'Type'], ['month', 'Month'], ['day', 'Day']]
const tagPrefix = 'raw_tags.'
/** The numbers of values: at first, and of all that can be shown. */
const [fewValues, mostValues] = [20, 1000]

/** Shows what fills the store, and for administrators of the gateway when its disk is full. */
export async function renderStorage(body, { query }) {
  const by = query.get('by') ?? 'site'
  const isLong = query.get('all') === 'true'
  const source = { zone: chosenZone() }
  const [use, system] = await Promise.all([
    callInZone(source, 'management', 'GetStorageUse', { groupBy: by, valueLimit: isLong ? mostValues : fewValues }),
    hasRole('system admin') ? call('system', 'GetSystemStatus', {}, { organization: '' }).catch(() => null) : null,
  ])
  const group = use.groups?.[0] ?? {}
  body.replaceChildren(...[
    pageHeader('Storage', h('div', { onchange: (event) => { location.hash = address(event.target.value) } },
      formField({ name: 'by', label: 'Group', type: 'select', value: by, options: options(by, use.tagKeys ?? []) }))),
    system && diskCard(system),
    h('p', {}, `${formatCount(use.objects, 'object')}, ${formatBytes(use.bytes)}. `, trashText(use)),
    use.isComplete !== true && h('p', { class: 'hint' },
      'Objects of an earlier version are still being added: there are more bytes than this page shows.'),
    table(columns(by), rows(by, use, group), 'No objects.'),
    moreText(group, by, isLong),
    ['month', 'day'].includes(by) && h('p', { class: 'hint' },
      `By the beginning of the recording, or of the upload if that is unknown, in the zone ${source.zone}.`),
    hasRole('admin') && h('p', {}, h('a', { href: '#/retention' }, 'Retention'), ' shows what a rule would free before it is saved.'),
  ].filter(Boolean))
}

function address(by, isLong = false) {
  return `#/storage?by=${encodeURIComponent(by)}${isLong ? '&all=true' : ''}`
}

function options(by, tagKeys) {
  const isOfAll = hasRole('system admin') && (selectedOrganization() || session.user.organization) === 'system'
  const keys = tagKeys.map((key) => [tagPrefix + key, `Tag ${key}`])
  const known = [...isOfAll ? [['organization', 'Organization']] : [], ...groups, ...keys]
  return known.some(([value]) => value === by) ? known : [...known, [by, by]]
}

function diskCard(system) {
  const disk = diskOf(system)
  if (disk.free === null) {
    const place = system.objectEngine ? `The objects are in the bucket ${system.objectEngine.bucket}: no disk fills with them.`
      : 'The free space of the object store is unknown.'
    return h('section', { class: 'card', 'aria-label': 'Disk' }, h('h2', {}, 'Disk'), h('p', {}, place))
  }
  const outlook = fullText(disk)
  return h('section', { class: 'card', 'aria-label': 'Disk' }, h('h2', {}, 'Disk'),
    disk.size && h('meter', { min: 0, max: 100, value: usedPercent(disk), 'aria-label': 'Used part of the disk' }),
    h('p', {}, [usedText(disk), `${formatBytes(disk.free)} free`, outlook].filter(Boolean).join(', '), '.'),
    h('p', { class: 'hint' }, [growthText(disk), `New uploads are refused while less than ${formatBytes(disk.minimum)} is free.`]
      .filter(Boolean).join(' ')))
}

function trashText({ trashedObjects = 0, trashedBytes = 0 }) {
  if (Number(trashedObjects) === 0) return ''
  const text = `${formatCount(trashedObjects, 'object')}, ${formatBytes(trashedBytes)}`
  return ['In the trash: ', hasRole('admin') ? h('a', { href: '#/trash' }, text) : text, '.']
}

/** The rows of the values, and one with what has none of them. */
function rows(by, use, group) {
  const values = group.values ?? []
  const sum = (member) => values.reduce((total, value) => total + Number(value[member] ?? 0), 0)
  const rest = { bytes: Number(use.bytes ?? 0) - sum('bytes'), objects: Number(use.objects ?? 0) - sum('objects') }
  const most = Math.max(1, rest.bytes, ...values.map(({ bytes = 0 }) => Number(bytes)))
  const known = values.map(({ value = '', displayName = '', objects = 0, bytes = 0 }) =>
    ({ value, displayName, objects: Number(objects), bytes: Number(bytes), most, filter: filterOf(by, value) }))
  if (rest.objects <= 0) return known
  const isWhole = Number(group.totalValues ?? 0) <= values.length && !group.isLowerBound
  const name = isWhole ? 'None' : 'Others'
  return [...known, { name, value: name, ...rest, most, filter: isWhole && by === 'device' ? 'device=""' : null }]
}

/** The filter of the objects with a value; `null` if no list has just these. */
function filterOf(by, value) {
  if (by === 'organization') return null
  if (by === 'day') return withDateRange('', { from: value, to: value })
  if (by !== 'month') return termFor(by, value)
  const [year, month] = value.split('-').map(Number)
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return withDateRange('', { from: `${value}-01`, to: `${value}-${last}` })
}

function columns(by) {
  const title = by.startsWith(tagPrefix) ? by.slice(tagPrefix.length) : options(by, []).find(([value]) => value === by)[1]
  return [
    { title, cell: (row) => valueCell(by, row) },
    { title: 'Share', cell: ({ bytes, most, value }) =>
      h('meter', { min: 0, max: most, value: bytes, 'aria-label': `Share of ${value}` }) },
    { title: 'Size', isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
    { title: 'Objects', isNumber: true, cell: ({ objects }) => objects.toLocaleString('en') },
  ]
}

function valueCell(by, { name, value, displayName, filter }) {
  const text = name ?? (displayName || (by === 'site' ? `site ${value}` : by === 'month' ? dayText(`${value}-01`, true) : value) || 'empty')
  const main = filter ? h('a', { href: objectsAddress(filter), class: text.length <= 32 ? 'id' : 'name' }, h('bdi', {}, text)) : text
  return by === 'device' && displayName ? h('span', { class: 'device' }, main, ' ', h('small', { class: 'id' }, value)) : main
}

function moreText({ values = [], totalValues = 0, isLowerBound }, by, isLong) {
  if (Number(totalValues) <= values.length) return null
  const total = `${isLowerBound ? 'at least ' : ''}${Number(totalValues).toLocaleString('en')}`
  return h('p', { class: 'hint' }, `${values.length.toLocaleString('en')} of ${total}. `,
    !isLong && h('a', { href: address(by, true) }, 'Show more'))
}

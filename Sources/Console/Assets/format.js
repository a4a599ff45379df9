import { h } from './dom.js'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
/** Made once: a format takes longer to make than a row of a list. */
const [wholeFormat, decimalFormat] = [0, 1].map((digits) => new Intl.NumberFormat('en', { maximumFractionDigits: digits }))

/** Formats a size in binary units: `1536` → `1.5 KiB`. Protobuf JSON sends 64-bit numbers as strings. */
export function formatBytes(value) {
  let number = Number(value ?? 0)
  let unit = 0
  while (Math.abs(number) >= 1024 && unit < units.length - 1) {
    number /= 1024
    unit += 1
  }
  return `${(unit === 0 || number >= 100 ? wholeFormat : decimalFormat).format(number)} ${units[unit]}`
}

/** Formats a number with its noun: `1 part`, `1,200 parts`; a small average as `1.5 parts`. */
export function formatCount(value, one, many = `${one}s`) {
  const number = Number(value ?? 0)
  return `${(number < 10 ? decimalFormat : wholeFormat).format(number)} ${number === 1 ? one : many}`
}

/** Formats a duration in seconds with its two largest units: `3725` → `1 h 2 min`. */
export function formatDuration(seconds) {
  if (seconds < 10) return `${seconds.toLocaleString('en', { maximumFractionDigits: 2 })} s`
  const units = [[86_400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']]
  const first = Math.max(0, units.findIndex(([size]) => seconds >= size))
  let rest = Math.round(seconds)
  return units.slice(first, first + 2).map(([size, name]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count > 0 && `${count} ${name}`
  }).filter(Boolean).join(' ')
}

/** Formats the time between two times in whole seconds since 1970. */
export function formatElapsed(start, end) {
  const seconds = Math.max(0, Number(end) - Number(start))
  return seconds === 0 ? 'under 1 s' : formatDuration(seconds)
}

const dateTimeFormat = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })
/** Without the year, which rows of a list of this year have in common. */
const briefFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const shortFormat = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
/** The formats of each zone: `{brief, short, year}`. */
const zoneFormats = new Map()

function formatsOf(zone) {
  if (!zoneFormats.has(zone)) {
    const inZone = (format) => {
      const { locale: _, calendar: __, numberingSystem: ___, ...options } = format.resolvedOptions()
      return new Intl.DateTimeFormat('en', { ...options, timeZone: zone })
    }
    zoneFormats.set(zone, { brief: inZone(briefFormat), short: inZone(shortFormat),
      year: new Intl.DateTimeFormat('en', { year: 'numeric', timeZone: zone }) })
  }
  return zoneFormats.get(zone)
}

/**
 * Shows a time in the browser's zone, with the UTC time (RFC 3339) as tooltip. `value` is RFC 3339 or seconds since
 * 1970; returns `null` if there is no time. `isShort`: without seconds.
 */
export function timeElement(value, { isShort = false } = {}) {
  if (!value || value === '0') return null
  const date = new Date(/^\d+$/.test(value) ? Number(value) * 1000 : value)
  return h('time', { datetime: date.toISOString(), title: date.toISOString() }, (isShort ? shortFormat : dateTimeFormat).format(date))
}

const [dayFormat, monthFormat] = [{ month: 'short', day: 'numeric' }, { month: 'short', year: 'numeric' }]
  .map((parts) => new Intl.DateTimeFormat('en', { ...parts, timeZone: 'UTC' }))

/** Formats a day: `2026-01-31` → `Jan 31`. `hasYear`: its month and year instead. */
export function dayText(day, hasYear = false) {
  return (hasYear ? monthFormat : dayFormat).format(new Date(day))
}

/** Texts of minutes, because a long list shows the same ones again and again, and a format takes long. */
const minuteTexts = new Map()

/** The texts of a time without seconds, `{iso, brief}`, the latter in a zone and without the current year; `seconds` since 1970. */
export function timeTexts(seconds, zone) {
  const minute = Math.floor(seconds / 60)
  const key = `${minute} ${zone}`
  if (minuteTexts.size > 5000) minuteTexts.clear()
  if (!minuteTexts.has(key)) minuteTexts.set(key, briefText(new Date(minute * 60_000), formatsOf(zone)))
  return { iso: new Date(seconds * 1000).toISOString(), brief: minuteTexts.get(key) }
}

function briefText(date, { brief, short, year }) {
  return (year.format(date) === year.format(new Date()) ? brief : short).format(date)
}

/** Formats an enum value: `DEVICE_STATUS_INITIALIZED` → `initialized`. */
export function enumLabel(value, prefix) {
  return (value ?? '').replace(prefix, '').toLowerCase().replaceAll('_', ' ')
}

/** Formats tags one per line: `{model: 'mk2'}` → `model=mk2`. */
export function formatTags(tags) {
  return Object.entries(tags ?? {}).sort().map(([key, value]) => `${key}=${value}`).join('\n')
}

/** Parses tags that are given one per line as `KEY=VALUE`. */
export function parseTags(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf('=')
    if (at < 1) throw new Error(`Tags: expected KEY=VALUE, found “${line}”.`)
    return [line.slice(0, at), line.slice(at + 1)]
  }))
}

/** A tag; a value that is written from right to left changes nothing beside it. */
export function tagText(key, value) {
  return [h('b', {}, h('bdi', {}, key)), ' ', h('bdi', {}, value)]
}

/** A list of tags; `null` without tags. */
export function tagList(tags) {
  const entries = Object.entries(tags ?? {}).sort()
  if (entries.length === 0) return null
  return h('ul', { class: 'tags' }, entries.map(([key, value]) => h('li', {}, tagText(key, value))))
}

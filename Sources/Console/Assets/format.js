import { h } from './dom.js'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** `1536` → `1.5 KiB`. Numbers of 64 bits come as texts. */
export function bytes(value) {
  let number = Number(value ?? 0)
  let unit = 0
  while (Math.abs(number) >= 1024 && unit < units.length - 1) {
    number /= 1024
    unit += 1
  }
  return `${number.toLocaleString('en', { maximumFractionDigits: unit === 0 || number >= 100 ? 0 : 1 })} ${units[unit]}`
}

export function count(value, one, many = `${one}s`) {
  const number = Number(value ?? 0)
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`
}

const clock = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** A point in time, in the reader's zone. `value`: RFC 3339, or seconds since 1970; nothing where there is none. */
export function time(value) {
  if (!value || value === '0') return null
  const date = new Date(/^\d+$/.test(value) ? Number(value) * 1000 : value)
  return h('time', { datetime: date.toISOString(), title: date.toISOString() }, clock.format(date))
}

/** `DEVICE_STATUS_INITIALIZED` → `initialized`. */
export function word(value, prefix) {
  return (value ?? '').replace(prefix, '').toLowerCase().replaceAll('_', ' ')
}

/** `{model: 'mk2'}` ↔ one `model=mk2` a line. */
export function tagLines(tags) {
  return Object.entries(tags ?? {}).sort().map(([key, value]) => `${key}=${value}`).join('\n')
}

export function parseTags(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf('=')
    if (at < 1) throw new Error(`a tag is KEY=VALUE: ${line}`)
    return [line.slice(0, at), line.slice(at + 1)]
  }))
}

export function tagList(tags) {
  const entries = Object.entries(tags ?? {}).sort()
  if (entries.length === 0) return null
  return h('ul', { class: 'tags' }, entries.map(([key, value]) => h('li', {}, h('b', {}, key), ` ${value}`)))
}

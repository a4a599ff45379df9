import { formatCount } from './format.js'

/** The choices of hours without a call after which a device is reported as silent. */
const choices = [1, 4, 12, 24, 72, 168, 720]

/**
 * The field of a form for the time after which devices are reported as silent.
 *
 * `hours`: undefined = that of `container`.
 */
export function silenceField(hours, container) {
  const values = [...new Set([...choices, ...hours > 0 ? [hours] : []])].sort((one, other) => one - other)
  return {
    name: 'silentAfterHours', label: 'Silent after', type: 'select', value: hours ?? -1,
    hint: 'A device that makes no call for this time is reported as silent.',
    options: [[-1, `as ${container}`], [0, 'never'], ...values.map((each) => [each, silenceText(each)])],
  }
}

/** A time after which devices are reported as silent; undefined = that of `container`. */
export function silenceText(hours, container) {
  if (hours === undefined) return `as ${container}`
  if (hours === 0) return 'never'
  return hours % 24 === 0 ? formatCount(hours / 24, 'day') : formatCount(hours, 'hour')
}

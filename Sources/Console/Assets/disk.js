import { formatBytes } from './format.js'

/** The disk of the gateway's objects, as GetSystemStatus describes it, and sentences about it. */

const dateFormat = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })
/** Time before the disk is full at which it is a warning, in milliseconds. */
const forecastWarning = 14 * 86_400_000

/** The numbers of the answer; `size` and `free` are `null` if the objects are not on a disk. */
export function diskOf({ storeFreeBytes = 0, storeMinimumFreeBytes = 0, storeSizeBytes = 0, diskForecast = {} }) {
  const [free, size] = [Number(storeFreeBytes), Number(storeSizeBytes)]
  return {
    free: free < 0 ? null : free,
    size: size > 0 ? size : null,
    minimum: Number(storeMinimumFreeBytes),
    state: (diskForecast.state ?? '').replace('DISK_FORECAST_STATE_', ''),
    bytesPerDay: Number(diskForecast.bytesPerDay ?? 0),
    days: Number(diskForecast.days ?? 0),
    fullAt: diskForecast.fullAt ? new Date(diskForecast.fullAt) : null,
  }
}

/** `82 % used`; an empty text if the size is unknown. */
export function usedText({ free, size }) {
  return free === null || size === null ? '' : `${usedPercent({ free, size })} % used`
}

export function usedPercent({ free, size }) {
  const percent = (100 * Math.max(0, size - free)) / size
  // A disk with free bytes is not shown as full.
  return free > 0 ? Math.min(99, Math.round(percent)) : 100
}

/** When the disk is full, in a few words; an empty text without a disk. */
export function fullText({ state, fullAt }) {
  return {
    NOT_ENOUGH_HISTORY: 'not enough history for a forecast',
    NOT_GROWING: 'it does not grow',
    GROWING: fullAt ? `full on ${dateFormat.format(fullAt)}` : 'not full within ten years',
    FULL: 'new uploads are refused now',
  }[state] ?? ''
}

/** A sentence about the growth; an empty text without enough history. */
export function growthText({ days, bytesPerDay }) {
  if (days === 0) return ''
  const verb = bytesPerDay < 0 ? 'shrank' : 'grew'
  return `The stored objects ${verb} by ${formatBytes(Math.abs(bytesPerDay))} a day in the last ${days} days.`
}

/** What needs attention about the disk; `null` if nothing does. */
export function diskWarning({ free, minimum, fullAt }) {
  if (free === null) return null
  if (free < minimum || free === 0) {
    return `The disk is full: new uploads are refused now, because only ${formatBytes(free)} are free and ${formatBytes(minimum)} must stay free.`
  }
  if (free < 2 * minimum) {
    return `The disk is nearly full: ${formatBytes(free)} are free, and new uploads are refused below ${formatBytes(minimum)}.`
  }
  if (fullAt && fullAt - Date.now() < forecastWarning) {
    return `The disk will be full on ${dateFormat.format(fullAt)}, if it fills as in the last days.`
  }
  return null
}

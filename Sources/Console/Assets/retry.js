import { CallError } from './api.js'
import { wait } from './wait.js'

/** Attempts of a request that fails for a passing reason, and the longest time between two of them in milliseconds. */
const attempts = 12
const longestPause = 30_000

/**
 * Repeats `action` while it fails for a passing reason. An aborted `signal` rejects with its reason.
 *
 * `isPatient`: whether it repeats without end while the gateway cannot be reached or has no space. `onRetry()` is called before a pause; if
 * it returns `true`, the failed attempt made progress and counts as the first. `onWait({reason, until, end})` is called with what the pause
 * is for, its end in milliseconds since 1970, and a function that ends it; with `null` after the pause.
 */
export async function retried(signal, action, { isPatient = false, onRetry = () => false, onWait = () => {} } = {}) {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    try {
      return await action()
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error
      if (onRetry()) attempt = 1
      const isOutage = error.status === 0 || hasNoSpace(error)
      if (isPatient && isOutage) attempt = Math.min(attempt, attempts - 1)
      if (attempt === attempts) throw error
      const pause = Math.min(longestPause, 500 * 2 ** attempt)
      const ended = new AbortController()
      onWait({ reason: reasonOf(error), until: Date.now() + pause, end: () => ended.abort() })
      await wait(pause, AbortSignal.any([signal, ended.signal]))
      onWait(null)
    }
  }
}

function isPassing(error) {
  if (!(error instanceof CallError)) return false
  return error.status === 0 || error.status === 429 || error.status >= 500 || error.code === 'aborted'
}

function hasNoSpace({ message }) {
  return message.includes('no space for new uploads')
}

/** What a request waits for. */
function reasonOf(error) {
  if (error.status === 0) return 'the gateway cannot be reached'
  return hasNoSpace(error) ? 'the gateway’s disk is full' : error.message.replace(/\.$/, '')
}

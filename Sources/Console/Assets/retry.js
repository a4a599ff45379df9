import { CallError } from './api.js'
import { wait } from './wait.js'

/** Attempts of a request that fails for a passing reason, and the longest time between two of them in milliseconds. */
const attempts = 12
const longestPause = 30_000

/**
 * Repeats `action` while it fails for a passing reason. `onRetry()` is called before the pause; if it returns `true`, the failed attempt
 * made progress and counts as the first. An aborted `signal` rejects with its reason.
 */
export async function retried(signal, action, onRetry = () => false) {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    try {
      return await action()
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error
      if (onRetry()) attempt = 1
      if (attempt === attempts) throw error
      await wait(Math.min(longestPause, 500 * 2 ** attempt), signal)
    }
  }
}

function isPassing(error) {
  if (!(error instanceof CallError)) return false
  return error.status === 0 || error.status === 429 || error.status >= 500 || error.code === 'aborted'
}

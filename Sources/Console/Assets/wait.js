/** Resolves after the time in milliseconds, or when `signal` is aborted. */
export function wait(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    }, { once: true })
  })
}

/**
 * Runs `action` again and again while the page is visible, each time after a pause in milliseconds, until `signal` is aborted or it resolves
 * to `false`. Its errors are ignored: the next time may succeed.
 */
export async function repeatWhileVisible(pause, signal, action) {
  while (!signal.aborted) {
    await wait(pause, signal)
    if (signal.aborted || document.hidden) continue
    if (await action().catch(() => true) === false) return
  }
}

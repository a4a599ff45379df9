import { call } from './api.js'
import { alertMessage, button, h, propertyList } from './dom.js'
import { showDialog } from './dialog.js'
import { enumLabel, formatBytes, formatCount } from './format.js'
import { wait } from './wait.js'

/** Time between two updates of the progress, in milliseconds. */
const refreshInterval = 700

export function operationStatus({ status }) {
  return enumLabel(status, 'OBJECT_OPERATION_STATUS_')
}

/** Shows the progress of an operation on many objects until the dialog is closed; the operation continues without it. */
export async function followOperation(operation) {
  const lifetime = new AbortController()
  const content = h('div', { 'aria-live': 'polite' })
  let current = operation
  const cancel = button('Cancel the deletion', async () => {
    const answer = await call('management', 'CancelObjectOperation', { operationId: operation.operationId })
    current = answer.operation
    draw()
  }, 'danger')
  const draw = () => {
    const percent = current.progressPercent ?? 0
    const isRunning = current.status === 'OBJECT_OPERATION_STATUS_RUNNING'
    cancel.hidden = !isRunning
    content.replaceChildren(
      h('progress', { max: 100, value: isRunning ? percent : 100, 'aria-label': 'Progress' }),
      propertyList([['State', operationStatus(current)],
        ['Deleted', `${formatCount(current.deletedObjects, 'object')}, ${formatBytes(current.deletedBytes)}`]]))
    return isRunning
  }
  const closed = showDialog('Deletion', content, cancel).then(() => lifetime.abort())
  while (draw() && !lifetime.signal.aborted) {
    await wait(refreshInterval, lifetime.signal)
    if (lifetime.signal.aborted) break
    try {
      const answer = await call('management', 'GetObjectOperation', { operationId: operation.operationId },
        { isBackground: true })
      current = answer.operation
    } catch (error) {
      content.replaceChildren(alertMessage(error.message))
      break
    }
  }
  return closed
}

import { call } from './api.js'
import { alertMessage, button, h, propertyList, showNotice } from './dom.js'
import { showDialog } from './dialog.js'
import { enumLabel, formatBytes, formatCount } from './format.js'
import { wait } from './wait.js'

/** Time between two updates of the progress, in milliseconds. */
const refreshInterval = 700

export function operationStatus({ status }) {
  return enumLabel(status, 'OBJECT_OPERATION_STATUS_')
}

/** The kind of an operation: delete, restore, purge or undo. */
export function operationKind({ kind }) {
  return enumLabel(kind, 'OBJECT_OPERATION_KIND_')
}

/** The number of objects that an operation deleted or restored so far. */
export function processedObjects(operation) {
  return Number(operation.deletedObjects ?? 0) + Number(operation.restoredObjects ?? 0)
}

/** Whether the objects that an operation moved to the trash can be restored together. */
export function canUndo(operation) {
  return operationKind(operation) === 'delete' && operationStatus(operation) !== 'running'
}

function restores(operation) {
  return ['restore', 'undo'].includes(operationKind(operation))
}

/** Starts an operation that restores what a deletion moved to the trash, and follows it. */
export async function undoOperation(operation) {
  const { operation: undo, matchingObjects } = await call(
    'management', 'UndoObjectOperation', { operationId: operation.operationId })
  if (Number(matchingObjects ?? 0) === 0) showNotice('No object of this deletion is in the trash.')
  return followOperation(undo)
}

/**
 * Waits for the end of an operation on many objects, and reports the number of objects that are done. `organization`: the operation's, if
 * it is not the selected one.
 */
export async function operationEnd(operation, report, organization) {
  let current = operation
  while (operationStatus(current) === 'running') {
    report(formatCount(processedObjects(current), 'object'))
    await wait(refreshInterval)
    const { operationId } = operation
    current = (await call('management', 'GetObjectOperation', { operationId }, { organization })).operation
  }
  if (operationStatus(current) !== 'succeeded') throw new Error(`The operation was ${operationStatus(current)}.`)
}

/** Shows the progress of an operation on many objects until the dialog is closed; the operation continues without it. */
export async function followOperation(operation) {
  const lifetime = new AbortController()
  const content = h('div', { 'aria-live': 'polite' })
  let current = operation
  const cancel = button('Cancel the operation', async () => {
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
        restores(current)
          ? ['Restored', `${formatCount(current.restoredObjects, 'object')}, ${formatBytes(current.restoredBytes)}`]
          : ['Deleted', `${formatCount(current.deletedObjects, 'object')}, ${formatBytes(current.deletedBytes)}`]]))
    return isRunning
  }
  const closed = showDialog(restores(current) ? 'Restoration' : 'Deletion', content, cancel).then(() => lifetime.abort())
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

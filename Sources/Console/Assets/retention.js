import { actorElement } from './actor.js'
import { call } from './api.js'
import { deviceLink } from './device-names.js'
import { alertMessage, badge, button, h, nameLink, pageHeader, showNotice } from './dom.js'
import { formField, showFormDialog } from './dialog.js'
import { markedFilter } from './filter-outcome.js'
import { formatBytes, formatCount, timeElement } from './format.js'
import {
  canUndo, followOperation, operationKind, operationStatus, processedObjects, undoOperation,
} from './object-operation.js'
import { pagedTable, table } from './table.js'

const ruleLimit = 20

/** Shows after how many days objects are deleted, with a dry run before a change, and the deletions by filter. */
export async function renderRetention(body, { reload, guardChanges }) {
  const [retention, trash] = await Promise.all([
    call('management', 'GetRetention'), call('management', 'GetTrashSettings')])
  const forms = [retentionForm(retention, reload), trashForm(trash, reload)]
  body.replaceChildren(pageHeader('Retention'), ...forms,
    h('h2', {}, 'Deletions and restorations by filter'), operationTable())
  const values = () => forms.map((form) => [...form.querySelectorAll('input')].map(({ value }) => value).join('\n')).join('\n\n')
  const saved = values()
  guardChanges(() => values() !== saved)
}

function retentionForm({ days = 0, rules = [] }, reload) {
  const result = h('div', { 'aria-live': 'polite' })
  const ruleList = h('div', { class: 'rules' }, rules.map(ruleRow))
  const form = h('form', { class: 'card' },
    h('h2', {}, 'Objects'),
    h('p', {}, 'Objects that are older move to the trash. The first rule that matches an object decides; 0 days keep it.'),
    ruleList,
    button('Add a rule', () => {
      if (ruleList.children.length >= ruleLimit) throw new Error(`There can be at most ${ruleLimit} rules.`)
      ruleList.append(ruleRow({}))
      ruleList.lastElementChild.querySelector('input').focus()
    }),
    formField({ name: 'days', label: 'All other objects: days', type: 'number', min: 0, value: days, required: true,
      hint: '0 keeps them.' }),
    result,
    h('div', { class: 'dialog-actions' },
      button('Count what would be deleted', () => count().catch(showError)), h('button', { type: 'submit', class: 'primary' }, 'Save')))

  const message = () => ({
    days: Number(form.elements.days.value), replaceRules: true,
    rules: [...ruleList.children].map((row) => ({
      filter: row.querySelector('[name=filter]').value.trim(), days: Number(row.querySelector('[name=ruleDays]').value),
    })),
  })
  const showError = (error) => {
    if (!showAtField(form, [...ruleList.children], error)) result.replaceChildren(alertMessage(error.message))
  }
  async function count() {
    clearErrors(form)
    result.replaceChildren()
    const answer = await call('management', 'SetRetention', { ...message(), dryRun: true })
    result.replaceChildren(...[h('p', { class: 'warning' }, affectedText(answer, 'would move to the trash now.')),
      exampleTable(answer)].filter(Boolean))
    return answer
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    try {
      const affected = await count()
      await confirmSetting('Change the retention?', affectedText(affected, 'will move to the trash within a minute.'),
        affected, () => call('management', 'SetRetention', message()), 'The retention was saved.', reload)
    } catch (error) {
      showError(error)
    }
  })
  return form
}

/** An error about a field: the number of its rule from 0, the name of the field, and what is wrong. */
const fieldError = /^(?:rules\[(\d+)\]\.)?(filter|days)\b:? ?(.*)$/s

/** Shows an error at the field of a form that it is about; returns whether it is about one. */
function showAtField(form, rows, { message }) {
  const [, index, name, text] = message.match(fieldError) ?? []
  if (!name || (name === 'filter' && index === undefined)) return false
  const row = index === undefined ? form : rows[Number(index)]
  const control = row?.querySelector(index === undefined ? '[name=days]' : name === 'filter' ? '[name=filter]' : '[name=ruleDays]')
  if (!control) return false
  const id = `${control.id}-error`
  const error = h('p', { class: 'field-error', id, role: 'alert' }, text[0].toUpperCase() + text.slice(1), name === 'filter' && markedFilter(control.value.trim(), `filter: ${text}`))
  control.setAttribute('aria-invalid', 'true')
  control.setAttribute('aria-describedby', id)
  control.closest('.field').append(error)
  control.focus()
  return true
}

/** Removes the errors at the fields of a form. */
function clearErrors(form) {
  for (const error of form.querySelectorAll('.field-error')) error.remove()
  for (const control of form.querySelectorAll('[aria-invalid]')) {
    control.removeAttribute('aria-invalid')
    control.removeAttribute('aria-describedby')
  }
}

function ruleRow({ filter = '', days = 0 }) {
  const row = h('div', { class: 'rule' },
    formField({ name: 'filter', label: 'Filter', value: filter, required: true, placeholder: 'kind=test',
      spellcheck: 'false' }),
    formField({ name: 'ruleDays', label: 'Days', type: 'number', min: 0, value: days, required: true }),
    h('button', { type: 'button', class: 'danger', onclick: () => row.remove() }, 'Remove'))
  return row
}

function trashForm({ days = 0, trashedObjects, trashedBytes }, reload) {
  const result = h('div', {})
  const form = h('form', { class: 'card' },
    h('h2', {}, 'Trash'),
    h('p', {}, `The trash has ${formatCount(trashedObjects, 'object')}, ${formatBytes(trashedBytes)}.`),
    formField({ name: 'days', label: 'Days in the trash', type: 'number', min: 0, max: 3650, value: days, required: true,
      hint: 'Then objects are deleted permanently. With 0 days they are deleted at once.' }),
    result,
    h('div', { class: 'dialog-actions' }, h('button', { type: 'submit', class: 'primary' }, 'Save')))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const message = { days: Number(form.elements.days.value) }
    clearErrors(form)
    try {
      const affected = await call('management', 'SetTrashSettings', { ...message, dryRun: true })
      await confirmSetting('Change the time in the trash?',
        affectedText(affected, 'will be deleted permanently within a minute.'), affected,
        () => call('management', 'SetTrashSettings', message), 'The time in the trash was saved.', reload)
    } catch (error) {
      if (!showAtField(form, [], error)) result.replaceChildren(alertMessage(error.message))
    }
  })
  return form
}

/** The oldest of the objects that a retention would delete. */
function exampleTable({ examples = [], affectedObjects }) {
  if (examples.length === 0) return null
  return h('div', {}, h('h3', {}, examples.length < Number(affectedObjects) ? `The oldest ${examples.length} of them` : 'All of them'),
    table([
      { title: 'Name', cell: ({ name, fileId }) => nameLink(name, `#/objects/${fileId}`) },
      { title: 'Device', cell: ({ deviceId }) => deviceId && deviceLink(deviceId) },
      { title: 'Since', cell: ({ keptSince }) => timeElement(keptSince, { isShort: true }) },
      { title: 'Size', isNumber: true, cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
    ], examples, ''))
}

function affectedText({ affectedObjects, affectedBytes, isLowerBound }, outcome) {
  return `${isLowerBound ? 'At least ' : ''}${formatCount(affectedObjects, 'object')} (${formatBytes(affectedBytes)}) ${outcome}`
}

/** Asks for the number of affected objects if there are any. */
async function confirmSetting(title, text, { affectedObjects }, action, notice, reload) {
  const count = Number(affectedObjects ?? 0)
  const finish = async () => {
    await action()
    showNotice(notice)
    await reload()
  }
  if (count === 0) return finish()
  return showFormDialog({
    title, text, submit: 'Save', isDangerous: true,
    fields: [{ name: 'typed', label: `Type ${count} to confirm`, inputmode: 'numeric', required: true,
      autocomplete: 'off' }],
    action: async ({ typed }) => {
      if (typed.trim() !== String(count)) throw new Error(`Type ${count} to confirm.`)
      await finish()
    },
  })
}

function operationTable() {
  return pagedTable([
    { title: 'Started', cell: (operation) => timeElement(operation.createdAt, { isShort: true }) },
    { title: 'Kind', cell: (operation) => operationKind(operation) },
    { title: 'State', cell: (operation) => badge(operationStatus(operation), operationStatus(operation) === 'succeeded' && 'good') },
    { title: 'Filter', cell: (operation) => operation.filter ? h('code', {}, operation.filter) : null },
    { title: 'Reason', cell: (operation) => operation.reason || null },
    { title: 'Actor', cell: (operation) => actorElement(operation.createdBy) },
    { title: 'Objects', isNumber: true, cell: (operation) => formatCount(processedObjects(operation), 'object') },
    { title: '', isActions: true, cell: (operation) => [button('Show', () => followOperation(operation)),
      canUndo(operation) && button('Undo', () => undoOperation(operation).then(() => location.reload()))] },
  ], async (pageToken) => {
    const { operations = [], nextPageToken } = await call(
      'management', 'ListObjectOperations', { pageSize: 50, pageToken })
    return { rows: operations, next: nextPageToken }
  }, 'No deletions by filter. Select objects on the page “Objects” to delete many at once.')
}

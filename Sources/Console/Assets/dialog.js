import { button, copyButton, h } from './dom.js'
import { saveText } from './export-file.js'

let lastID = 0

/**
 * Opens a dialog with a form; resolves when the dialog is closed, whether the form was submitted or canceled.
 *
 * `content`: elements between the text and the fields. `fields`: `{name, label, type, value, hint, required, options,
 * …}`; type `select` has `options` of `[value, text]`, type `textarea` takes several lines, other types are those of an
 * input. When `action(values, progress)` throws, the form shows the error and stays open; `progress(text)` shows the
 * progress of the action.
 */
export function showFormDialog({ title, text, content = [], fields = [], submit, isDangerous = false, action }) {
  const titleID = `dialog-${lastID += 1}`
  const alert = h('p', { class: 'alert', role: 'alert', hidden: true })
  const submitButton = h('button', { type: 'submit', class: isDangerous ? 'danger' : 'primary' }, submit)
  const form = h('form', { method: 'dialog' },
    h('h2', { id: titleID }, title),
    text && h('p', {}, text),
    content,
    fields.map(formField),
    alert,
    h('div', { class: 'dialog-actions' },
      h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'), submitButton))
  const dialog = h('dialog', { 'aria-labelledby': titleID }, form)

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    alert.hidden = true
    submitButton.disabled = true
    try {
      await action(Object.fromEntries(new FormData(form)), (text) => { submitButton.textContent = text })
      dialog.close()
    } catch (error) {
      alert.textContent = error.message
      alert.hidden = false
    } finally {
      submitButton.disabled = false
      submitButton.textContent = submit
    }
  })
  return openDialog(dialog)
}

/** Opens a dialog that shows `content`; resolves when it is closed. */
export function showDialog(title, ...content) {
  const titleID = `dialog-${lastID += 1}`
  const dialog = h('dialog', { 'aria-labelledby': titleID },
    h('h2', { id: titleID }, title), ...content,
    h('div', { class: 'dialog-actions' },
      h('button', { type: 'button', class: 'primary', onclick: () => dialog.close() }, 'Close')))
  return openDialog(dialog)
}

/** Opens a dialog that shows a text to keep, with a button that copies it; resolves when it is closed. See `keptText`. */
export function showSecret(title, secret, hint, options) {
  return showDialog(title, h('p', {}, hint), keptText(title, secret, options))
}

/** A text to keep elsewhere, with a button that copies it; `fileName` adds one that downloads it. `label`: what it is. */
function keptText(label, text, { rows = 3, fileName } = {}) {
  return [
    h('textarea', { readonly: true, rows, 'aria-label': label, class: 'secret' }, text),
    h('p', { class: 'keeping' }, copyButton(text), fileName && button('Download', () => saveText(fileName, 'text/plain', `${text}\n`))),
  ]
}

function openDialog(dialog) {
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      // The control that opened the dialog may have been removed when the page was rendered again.
      if (document.activeElement === document.body) document.getElementById('content').focus({ preventScroll: true })
      resolve()
    })
  })
}

/** Closes all open dialogs, because another page is shown; the sign-in stays. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll('dialog[open]:not(.sign-in-again)')) dialog.close()
}

/** A label with its control and hint; screen readers announce the hint with the control. */
export function formField({ name, label, type = 'text', value = '', hint, options = [], ...rest }) {
  const id = `field-${lastID += 1}`
  const common = { id, name, 'aria-describedby': hint && `${id}-hint`, ...rest }
  let control
  if (type === 'select') {
    control = h('select', common,
      options.map(([key, text]) => h('option', { value: key, selected: String(key) === String(value) }, text)))
  } else if (type === 'textarea') {
    control = h('textarea', { rows: 4, ...common }, value)
  } else if (type === 'checkbox') {
    return h('div', { class: 'field check' },
      h('input', { type, ...common, value: 'true', checked: value === true }), h('label', { for: id }, label),
      hint && h('p', { class: 'hint', id: `${id}-hint` }, hint))
  } else {
    control = h('input', { type, value, ...common })
  }
  return h('div', { class: 'field' },
    h('label', { for: id }, label), control, hint && h('p', { class: 'hint', id: `${id}-hint` }, hint))
}

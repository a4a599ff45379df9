import { h } from './dom.js'
import { formField, showDialog } from './dialog.js'
import { go } from './organization-choice.js'
import { openPalette } from './palette.js'

/** Time in which the second key of `g` and a letter is awaited, in milliseconds. */
const sequenceTime = 1500
/** Whether single keys are switched off in this browser, because they disturb speech input or other programs. */
const singleKeysStorageKey = 'console-single-keys'

function hasSingleKeys() {
  return localStorage.getItem(singleKeysStorageKey) !== 'off'
}

/**
 * Handles the keyboard shortcuts; those of `pages` that have a letter `shortcut` open after `g`. Returns a function that opens the
 * field of Ctrl K.
 */
export function listenForShortcuts(pages) {
  let sequenceStart = -Infinity
  const open = () => openPalette(pages, [{ kind: 'Action', label: 'Keyboard shortcuts', run: () => showHelp(pages) }])
  const openInstead = (event) => {
    event.preventDefault()
    open()
  }
  addEventListener('keydown', (event) => {
    // Nobody is signed in while the header is hidden.
    if (document.querySelector('dialog[open]') || document.getElementById('bar').hidden) return
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') return openInstead(event)
    if (event.ctrlKey || event.altKey || event.metaKey) return
    if (event.target.closest('input, textarea, select')) {
      // A box of a row is no field in which letters are typed.
      if (event.key === 'Escape') event.target.blur()
      if (event.target.type !== 'checkbox') return
    }
    if (!hasSingleKeys()) return
    const page = performance.now() - sequenceStart < sequenceTime && pages.find((each) => each.shortcut === event.key)
    sequenceStart = event.key === 'g' ? performance.now() : -Infinity
    if (page) go(`#/${page.name}`)
    else if (event.key === '/') focusSearch(event)
    else if (event.key === 'j') moveRow(1)
    else if (event.key === 'k') moveRow(-1)
    else if (event.key === 'x') document.activeElement.closest('tr')?.querySelector('input[type=checkbox]')?.click()
    else if (event.key === '.') openInstead(event)
    else if (event.key === '?') showHelp(pages)
  })
  return open
}

function focusSearch(event) {
  const field = document.querySelector('main [data-shortcut=search]')
  if (!field) return
  event.preventDefault()
  field.focus()
  field.select()
}

/** Moves the focus to the link of the next or the previous row. */
function moveRow(step) {
  const list = document.querySelector('main .virtual')
  if (list?.virtualTable) return list.virtualTable.moveRow(step)
  const rows = [...document.querySelectorAll('main tbody tr')].filter((row) => row.querySelector('td a'))
  const current = rows.indexOf(document.activeElement.closest('tr'))
  const next = rows[current < 0 ? 0 : current + step]
  next?.querySelector('td a').focus()
  return next?.scrollIntoView({ block: 'nearest' })
}

function showHelp(pages) {
  const keys = [['Ctrl K', 'Pages, devices, objects and actions'], ['.', 'Actions on the selected rows, pages, devices and objects'], ['/', 'Search'],
    ['j', 'Next row'], ['k', 'Previous row'], ['Enter', 'Open the row'], ['x', 'Select the row'], ['?', 'This list'],
    ...pages.filter(({ shortcut }) => shortcut).map(({ shortcut, title }) => [`g ${shortcut}`, title])]
  const choice = h('div', { onchange: ({ target }) => {
    localStorage.setItem(singleKeysStorageKey, target.checked ? 'on' : 'off')
  } }, formField({ name: 'singleKeys', label: 'Use single keys', type: 'checkbox', value: hasSingleKeys(),
    hint: 'Without them, only Ctrl K and the keys of the browser work.' }))
  showDialog('Keyboard shortcuts', choice, h('dl', { class: 'properties' }, keys.map(([key, text]) =>
    [h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)])))
}

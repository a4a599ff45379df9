import { h } from './dom.js'
import { showDialog } from './dialog.js'

/** Time in which the second key of `g` and a letter is awaited, in milliseconds. */
const sequenceTime = 1500

/** Handles the keyboard shortcuts; `pages` have a letter `shortcut`, which opens them after `g`. */
export function listenForShortcuts(pages) {
  let sequenceStart = -Infinity
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open]')) return
    if (event.target.closest('input, textarea, select')) {
      if (event.key === 'Escape') event.target.blur()
      return
    }
    const page = performance.now() - sequenceStart < sequenceTime && pages.find((each) => each.shortcut === event.key)
    sequenceStart = event.key === 'g' ? performance.now() : -Infinity
    if (page) location.hash = `#/${page.name}`
    else if (event.key === '/') focusSearch(event)
    else if (event.key === 'j') moveRow(1)
    else if (event.key === 'k') moveRow(-1)
    else if (event.key === 'x') document.activeElement.closest('tr')?.querySelector('input[type=checkbox]')?.click()
    else if (event.key === '?') showHelp(pages)
  })
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
  const rows = [...document.querySelectorAll('main tbody tr')].filter((row) => row.querySelector('td a'))
  const current = rows.indexOf(document.activeElement.closest('tr'))
  const next = rows[current < 0 ? 0 : current + step]
  next?.querySelector('td a').focus()
  next?.scrollIntoView({ block: 'nearest' })
}

function showHelp(pages) {
  const keys = [['/', 'Search'], ['j', 'Next row'], ['k', 'Previous row'], ['Enter', 'Open the row'],
    ['x', 'Select the row'], ['?', 'This list'], ...pages.map(({ shortcut, title }) => [`g ${shortcut}`, title])]
  showDialog('Keyboard shortcuts', h('dl', { class: 'properties' }, keys.map(([key, text]) =>
    [h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)])))
}

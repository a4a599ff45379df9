import { call, hasRole } from './api.js'
import { loadDevices, loadedDevices } from './device-names.js'
import { h } from './dom.js'
import { fileIcon } from './file-type.js'
import { quote } from './filter-terms.js'
import { nameParts } from './object-row.js'
import { go } from './organization-choice.js'

const [mostEntries, mostObjects, typingTime] = [12, 6, 150]

/** What the buttons and links beside headings and above selected rows do: `[{kind, label, run}]`. */
function pageActions() {
  const controls = [...document.querySelectorAll('main .bulk button, main .page-header .actions button, main .page-header a.button')]
  return controls.filter((each) => (each.closest('.more-menu') ?? each).checkVisibility() && !each.disabled)
    .map((each) => ({ kind: 'Action', label: each.textContent, run: () => each.click() }))
}

/** The devices that match, first those whose names have the words themselves. */
function deviceEntries(words) {
  const hasWords = ({ label }) => words.every((word) => label.toLowerCase().split(/\s+/).includes(word))
  const entries = loadedDevices().map(({ deviceId, displayName }) => ({
    kind: 'Device', label: displayName || deviceId, detail: displayName ? deviceId : '',
    run: () => { go(`#/devices/${deviceId}`) } })).filter((entry) => matches(entry, words))
  return [...entries.filter(hasWords), ...entries.filter((entry) => !hasWords(entry))]
}

async function objectEntries(text) {
  const request = { pageSize: mostObjects, filter: quote(text) }
  const { objects = [] } = await call('objects', 'ListObjects', request, { isBackground: true })
  return objects.map((object) => ({ kind: 'Object', label: object.name, icon: fileIcon(object),
    run: () => { go(`#/objects/${object.fileId}`) } }))
}

function matches({ label, detail = '' }, words) {
  const text = `${label} ${detail}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Opens a field that finds pages, devices, objects and the actions of the page; `more`: further actions. */
export function openPalette(pages, more) {
  const fixed = [...pageActions(), ...pages.filter(({ role }) => hasRole(role)).map(({ name, title }) => (
    { kind: 'Page', label: title, run: () => { go(`#/${name}`) } })), ...more]
  const list = h('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'Found' })
  const field = h('input', { type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list',
    'aria-label': 'Go to a page, a device or an object, or do an action', placeholder: 'Page, device, object or action',
    autocomplete: 'off', spellcheck: 'false' })
  const dialog = h('dialog', { class: 'palette', 'aria-label': 'Pages, devices, objects and actions' }, field, list)
  let shown = []
  let active = 0
  let found = { text: '', objects: [] }
  let timer
  const run = (index) => {
    const entry = shown[index]
    if (!entry) return
    dialog.close()
    entry.run()
  }
  const activate = (index) => {
    active = index
    for (const [number, option] of [...list.children].entries()) option.setAttribute('aria-selected', number === active)
    const option = list.children[active]
    if (option) {
      field.setAttribute('aria-activedescendant', option.id)
      option.scrollIntoView({ block: 'nearest' })
    } else {
      field.removeAttribute('aria-activedescendant')
    }
  }
  const draw = () => {
    const text = field.value.trim().toLowerCase()
    const words = text.split(/\s+/)
    const local = [...fixed.filter((entry) => matches(entry, words)), ...(text ? deviceEntries(words) : [])]
    shown = [...local.slice(0, mostEntries), ...(found.text === text ? found.objects : [])]
    list.replaceChildren(...shown.map(({ kind, label, detail, icon }, index) => h('li', {
      id: `palette-${index}`, role: 'option', 'aria-selected': 'false', onclick: () => run(index),
    }, icon, h('span', { class: 'label', title: label }, nameParts(label).map((part) => h('span', {}, part))), detail && h('small', { class: 'id' }, detail), h('small', { class: 'kind' }, kind))))
    activate(0)
  }
  const search = async () => {
    const text = field.value.trim().toLowerCase()
    if (!text) return
    const objects = await objectEntries(text).catch(() => [])
    if (!dialog.open || field.value.trim().toLowerCase() !== text) return
    found = { text, objects }
    draw()
  }
  field.addEventListener('input', () => {
    draw()
    clearTimeout(timer)
    timer = setTimeout(search, typingTime)
  })
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') activate(Math.min(active + 1, shown.length - 1))
    else if (event.key === 'ArrowUp') activate(Math.max(active - 1, 0))
    else if (event.key === 'Enter') run(active)
    else return
    event.preventDefault()
  })
  dialog.addEventListener('close', () => dialog.remove())
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close() })
  document.body.append(dialog)
  dialog.showModal()
  draw()
  loadDevices().then(draw).catch(() => {})
}

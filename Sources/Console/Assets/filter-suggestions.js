import { loadDevices, loadedDevices } from './device-names.js'
import { h } from './dom.js'
import { termFor, withFolder } from './filter-terms.js'
import { loadSiteNames } from './object-facets.js'
import { fileNameTag } from './object-source.js'

const mostSuggestions = 8

/** The term that is being typed: what follows the last space outside quotes. */
function lastTerm(text) {
  return text.match(/(?:"(?:\\.|[^"\\])*"?|[^\s"])*$/)[0]
}

/** All terms that can be suggested: `{term, label, count}`. */
function candidates(source, siteNames) {
  const facetTerms = source.facets.flatMap(({ name, values = [] }) => {
    const key = name.replace(/^raw_tags\./, '')
    if (name === 'site' || key === fileNameTag) return []
    return values.map(({ value, objects }) => ({
      term: termFor(name, value), label: `${key} ${value}`, count: Number(objects) }))
  })
  return [
    ...loadedDevices().filter(({ displayName }) => displayName).map(({ deviceId, displayName }) => (
      { term: termFor('device', deviceId), label: displayName })),
    ...[...siteNames].map(([id, name]) => ({ term: termFor('site', id), label: name })),
    ...['today', 'yesterday', 'last 7 days'].map((days) => (
      { term: termFor('recorded', days), label: `${days} (${source.zone})` })),
    ...source.rows.filter(({ folder }) => folder).map(({ folder, name }) => ({ term: withFolder('', folder.path), label: name })),
    ...facetTerms,
  ]
}

/** Returns a list below the filter's field with terms that complete what is being typed. */
export function filterSuggestions(input, source) {
  const list = h('ul', { id: 'filter-suggestions', role: 'listbox', class: 'suggestions', 'aria-label': 'Suggestions' })
  let shown = []
  let active = -1
  let siteNames = new Map()
  const activate = (index) => {
    active = index
    for (const [number, option] of [...list.children].entries()) {
      option.setAttribute('aria-selected', number === active)
    }
    if (active < 0) input.removeAttribute('aria-activedescendant')
    else input.setAttribute('aria-activedescendant', list.children[active].id)
  }
  const show = (suggestions) => {
    shown = suggestions
    list.hidden = suggestions.length === 0
    list.replaceChildren(...suggestions.map(({ term, label, count }, index) => h('li', {
      id: `filter-suggestion-${index}`, role: 'option', 'aria-selected': 'false',
      onmousedown: (event) => {
        event.preventDefault()
        accept(index)
      },
    }, h('span', {}, label), h('code', {}, term), count !== undefined && h('span', { class: 'count' }, count.toLocaleString('en')))))
    activate(-1)
  }
  const accept = (index) => {
    const { term } = shown[index]
    input.value = `${input.value.slice(0, input.value.length - lastTerm(input.value).length)}${term} `
    show([])
    input.focus()
  }
  const update = () => {
    const typed = lastTerm(input.value).replaceAll('"', '').toLowerCase()
    const isAtEnd = input.selectionStart === input.value.length
    const found = typed && isAtEnd ? candidates(source, siteNames).filter(({ term, label }) =>
      term !== typed && `${label} ${term}`.toLowerCase().includes(typed)) : []
    show(found.slice(0, mostSuggestions))
  }
  input.setAttribute('aria-autocomplete', 'list')
  input.setAttribute('aria-controls', list.id)
  input.addEventListener('input', update)
  input.addEventListener('blur', () => show([]))
  input.addEventListener('focus', () => {
    Promise.all([loadSiteNames().then((names) => { siteNames = names }), loadDevices()]).catch(() => {})
  })
  input.addEventListener('keydown', (event) => {
    if (shown.length === 0) return
    if (event.key === 'ArrowDown') activate((active + 1) % shown.length)
    else if (event.key === 'ArrowUp') activate(active <= 0 ? shown.length - 1 : active - 1)
    else if (event.key === 'Enter' && active >= 0) accept(active)
    else if (event.key === 'Escape') show([])
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  list.hidden = true
  return list
}

import { inOrganization } from './organization-choice.js'

/** The time for which a notice is shown, in milliseconds. */
const noticeTime = 6000

/**
 * Creates an HTML element. A property whose name begins with `on` adds an event listener; `undefined`, `null` and
 * `false` omit the attribute; `true` sets it without a value. A link to a page opens in the selected organization. Children are text or
 * elements and never parsed as markup.
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? '' : key === 'href' ? inOrganization(value) : value)
  }
  element.append(...visibleChildren(children))
  return element
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, key === 'href' ? inOrganization(value) : value)
  }
  element.append(...visibleChildren(children))
  return element
}

function visibleChildren(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
}

/** The heading of a page, with its buttons beside it. */
export function pageHeader(title, ...actions) {
  return h('div', { class: 'page-header' }, h('h1', {}, title), h('div', { class: 'actions' }, ...actions))
}

/** The way from a list to the page of one item. */
export function breadcrumb(title, href, name) {
  return h('nav', { class: 'breadcrumb', 'aria-label': 'Breadcrumb' },
    h('a', { href }, title), h('span', { 'aria-hidden': 'true' }, ' › '), h('span', { 'aria-current': 'page' }, name))
}

/** A text in the font of code, with a button that copies it. */
export function copyable(text) {
  if (!text) return null
  const [copy, state] = copyButton(text, 'link')
  copy.setAttribute('aria-label', `Copy ${text}`)
  return h('span', { class: 'copyable' }, h('code', {}, text), copy, state)
}

/** A button that copies a text, and a place that says for some seconds that it is copied: also in a dialog, above which no notice is. */
export function copyButton(text, kind = '') {
  const state = h('span', { class: 'copied', role: 'status' })
  let timer
  const copy = button('Copy', async () => {
    await navigator.clipboard.writeText(text)
    state.textContent = 'Copied.'
    clearTimeout(timer)
    timer = setTimeout(() => { state.textContent = '' }, noticeTime)
  }, kind)
  return [copy, state]
}

/** A name in a table: a short one stays in one line, and a long one gets space before it breaks. */
export function nameText(name) {
  return h('span', { class: nameClass(name) }, name)
}

/** A name in a table, as a link. */
export function nameLink(name, href) {
  return h('a', { href, class: nameClass(name) }, name)
}

function nameClass(name) {
  return name.length <= 32 ? 'id' : 'name'
}

/** A button that runs `action`, ignores presses while it runs, and shows a notice when it fails. */
export function button(label, action, kind = '') {
  let isBusy = false
  const press = async () => {
    if (isBusy) return
    isBusy = true
    try {
      await action()
    } catch (error) {
      showNotice(error.message)
    } finally {
      isBusy = false
    }
  }
  return h('button', { type: 'button', class: kind, onclick: press }, label)
}

/** A list of names and values; pairs whose value is `null`, `undefined` or empty are omitted. */
export function propertyList(pairs) {
  const present = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  return h('dl', { class: 'properties' }, present.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))
}

export function badge(text, kind = '') {
  return h('span', { class: `badge ${kind}` }, text)
}

/** Shows a message for six seconds and announces it to screen readers. */
export function showNotice(text) {
  const notice = document.getElementById('notice')
  notice.replaceChildren(h('p', {}, text))
  clearTimeout(showNotice.timer)
  showNotice.timer = setTimeout(() => notice.replaceChildren(), noticeTime)
}

export function alertMessage(text) {
  return h('p', { class: 'alert', role: 'alert' }, text)
}

/**
 * Makes an element. A property that begins with `on` is a listener, `undefined`, `null` and `false` leave it out, `true`
 * sets it without a value. Text stays text: nothing here is ever read as markup.
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? '' : value)
  }
  element.append(...present(children))
  return element
}

/** The same for a drawing. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...present(children))
  return element
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
}

/** A heading with what can be done beside it. */
export function pageHead(title, ...actions) {
  document.title = `${title} · data-gateway`
  return h('div', { class: 'page-head' }, h('h1', {}, title), h('div', { class: 'actions' }, ...actions))
}

/** An action that takes a while is not begun again meanwhile, and why it failed is said. */
export function button(label, action, kind = '') {
  let isBusy = false
  const press = async () => {
    if (isBusy) return
    isBusy = true
    try {
      await action()
    } catch (error) {
      notify(error.message)
    } finally {
      isBusy = false
    }
  }
  return h('button', { type: 'button', class: kind, onclick: press }, label)
}

/** Names and values, as a page about one thing shows them; a value of `null` is left out. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  return h('dl', { class: 'facts' }, shown.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))
}

export function badge(text, kind = '') {
  return h('span', { class: `badge ${kind}` }, text)
}

/** Says something that needs no answer, to everybody who listens or looks. */
export function notify(text) {
  const notice = document.getElementById('notice')
  notice.replaceChildren(h('p', {}, text))
  clearTimeout(notify.timer)
  notify.timer = setTimeout(() => notice.replaceChildren(), 6000)
}

export function alertBox(text) {
  return h('p', { class: 'alert', role: 'alert' }, text)
}

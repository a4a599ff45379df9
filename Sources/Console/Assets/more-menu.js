import { h } from './dom.js'

/** A menu with rare actions, `⋯`; `null` without any. It closes when one is pressed, with Escape, and when the focus leaves it. */
export function moreMenu(...actions) {
  const shown = actions.flat().filter(Boolean)
  if (shown.length === 0) return null
  const summary = h('summary', { 'aria-label': 'More actions', title: 'More actions' }, h('span', { 'aria-hidden': 'true' }, '⋯'))
  const close = () => { menu.open = false }
  const menu = h('details', { class: 'more-menu', onkeydown: (event) => {
    if (event.key !== 'Escape' || !menu.open) return
    close()
    summary.focus()
  }, onfocusout: ({ relatedTarget }) => {
    if (relatedTarget && !menu.contains(relatedTarget)) close()
  } }, summary, h('div', { class: 'more-actions', onclick: close }, shown))
  // A press beside it moves no focus.
  menu.addEventListener('toggle', () => {
    const press = ({ target }) => { if (!menu.contains(target)) close() }
    if (menu.open) addEventListener('pointerdown', press)
    menu.addEventListener('toggle', () => removeEventListener('pointerdown', press), { once: true })
  })
  return menu
}

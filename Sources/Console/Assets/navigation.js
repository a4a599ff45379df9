import { hasRole } from './api.js'
import { h } from './dom.js'

const sectionRow = document.getElementById('sections')
const pageRow = document.getElementById('pages')
const account = document.getElementById('account')

/** Shows the sections, and the pages of the current one, as far as the user's role sees them. */
export function showNavigation(sections, current) {
  const visible = sections.map(({ title, pages }) => ({ title, pages: pages.filter(({ role }) => hasRole(role)) }))
    .filter(({ pages }) => pages.length > 0)
  const isOpen = ({ pages }) => pages.some(({ name }) => name === current)
  sectionRow.replaceChildren(...visible.map((section) => {
    const kind = section.pages.length === 1 ? 'page' : 'true'
    return h('a', { href: `#/${section.pages[0].name}`, 'aria-current': isOpen(section) && kind }, section.title)
  }))
  const pages = visible.find(isOpen)?.pages ?? []
  pageRow.replaceChildren(...(pages.length > 1 ? pages : []).map(({ name, title }) =>
    h('a', { href: `#/${name}`, 'aria-current': name === current && 'page' }, title)))
  for (const link of account.querySelectorAll('a')) {
    if (link.hash.split('?')[0] === `#/${current}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  scrollToCurrent(sectionRow)
  scrollToCurrent(pageRow)
}

/**
 * Scrolls a row of links, which does not wrap on a narrow screen, to the current one. It does not use `scrollIntoView`,
 * which would also scroll the page. Assigning `scrollLeft` has no animation.
 */
function scrollToCurrent(row) {
  const current = row.querySelector('[aria-current]')
  if (!current) return
  const [frame, link] = [row, current].map((each) => each.getBoundingClientRect())
  row.scrollLeft += link.left + link.width / 2 - (frame.left + frame.width / 2)
}

// A row becomes narrower than its links when the window does, or a phone is turned.
const observer = new ResizeObserver((changes) => changes.forEach(({ target }) => scrollToCurrent(target)))
observer.observe(sectionRow)
observer.observe(pageRow)

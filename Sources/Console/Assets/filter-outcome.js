import { h } from './dom.js'
import { formatCount } from './format.js'
import { removeTerm, splitTerms } from './filter-terms.js'
import { objectsAddress } from './object-facets.js'
import { callInZone } from './time-zone.js'

/** The number of terms for which the objects without them are counted. */
const mostCounted = 6

/**
 * The filter with a mark at the byte that an error names, `filter: byte 5: expected …`; `null` if the message is about
 * something else.
 */
export function markedFilter(filter, message) {
  const [, digits] = message.match(/^filter: byte (\d+): /) ?? []
  if (digits === undefined) return null
  const bytes = new TextEncoder().encode(filter)
  const start = new TextDecoder().decode(bytes.slice(0, Number(digits)))
  const rest = filter.slice(start.length)
  const [wrong] = rest.match(/^\S+/) ?? [' ']
  return h('p', { class: 'mistake' }, h('code', {}, start, h('mark', {}, wrong), rest.slice(wrong.length)))
}

/** Says why no object is listed, and offers the filter without each of its terms. */
export function emptyResult(source, order) {
  const { filter } = source
  const terms = splitTerms(filter) ?? []
  if (terms.length === 0) return outcome('No objects match the filter.', [allObjects(order)])
  if (terms.length === 1) return outcome(`No objects match ${described(terms[0])}.`, [allObjects(order)])
  const ways = terms.slice(0, mostCounted).map((term) => {
    const rest = removeTerm(filter, term)
    const count = h('span', { class: 'count' })
    callInZone(source, 'management', 'GetObjectFacets', { filter: rest }, { isBackground: true })
      .then(({ count: found = 0, isExact = false }) => {
        count.textContent = ` ${isExact ? '' : 'more than '}${formatCount(Number(found), 'object')}`
      }).catch(() => {})
    return h('li', {}, h('a', { href: objectsAddress(rest, order) }, 'Without ', h('code', {}, term)), count)
  })
  return outcome('No objects match all of these terms.', [...ways, allObjects(order)])
}

function outcome(text, ways) {
  return h('div', { class: 'empty' }, h('p', {}, text), h('ul', { class: 'ways' }, ways))
}

function allObjects(order) {
  return h('li', {}, h('a', { href: objectsAddress('', order) }, 'All objects'))
}

/** What a term compares, for the sentence that nothing matches it. */
function described(term) {
  if (/[:=<>]/.test(term) && !term.startsWith('"')) return term
  const word = term.replace(/^"|"$/g, '')
  if (word.endsWith('*') && !word.slice(0, -1).includes('*')) return `${term}: no name, device or tag begins with it`
  if (word.includes('*')) return `${term}: no object’s name matches it`
  return `“${word}”: it is in no name of an object, a device or a site, and no device id or tag begins with it`
}

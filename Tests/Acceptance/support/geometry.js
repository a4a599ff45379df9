// The faults of what the page shows, or of its open dialog: what is wider than the screen, texts that are cut, words that are broken, texts and controls that
// overlap, charts whose axes are wrong, and times in two forms.

const scope = document.querySelector('dialog[open]') ?? document.body
const faults = []

// Ancestors that show a part of what they contain: their styles are read once.
const styles = new Map()
function styleOf(element) {
  if (!styles.has(element)) {
    const { overflowX, overflowY, contain, clipPath, position, textOverflow } = getComputedStyle(element)
    const isPainted = /strict|paint|content/.test(contain)
    styles.set(element, { overflowX: isPainted ? 'clip' : overflowX, overflowY: isPainted ? 'clip' : overflowY, clipPath, position,
      textOverflow })
  }
  return styles.get(element)
}
function* ancestors(element) {
  for (let each = element; each && each !== document.documentElement; each = each.parentElement) yield each
}

const isHiddenByStyle = (element) => element.closest('.skip, noscript, option')
  || [...ancestors(element)].some((each) => styleOf(each).clipPath !== 'none')
  || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
const name = (element) => `<${element.localName} class="${element.getAttribute('class') ?? ''}"> “${
  (element.innerText ?? element.textContent).trim().slice(0, 60)}”`

const cuts = (overflow) => ['hidden', 'clip'].includes(overflow)

const elements = [...scope.querySelectorAll('*')].filter((each) => each instanceof HTMLElement && !isHiddenByStyle(each))

// What is wider than the screen.
if (document.documentElement.scrollWidth > innerWidth) {
  faults.push(`the page is ${document.documentElement.scrollWidth} px wide, the screen ${innerWidth} px`)
}
for (const element of elements) {
  const { right, width } = element.getBoundingClientRect()
  if (width > 0 && right > innerWidth + 1
    && ![...ancestors(element.parentElement)].some((each) => styleOf(each).overflowX !== 'visible')) {
    faults.push(`${name(element)} ends ${Math.round(right - innerWidth)} px beside the screen`)
  }
}
for (const element of scope.querySelectorAll('.scroll')) {
  if (element.scrollWidth > element.clientWidth + 1 && !element.closest('.preview') && !isHiddenByStyle(element)) {
    faults.push(`a table is ${element.scrollWidth - element.clientWidth} px wider than its place`)
  }
}

// Texts that are cut without a sign of it.
for (const element of elements) {
  if (/^(input|textarea|select|progress|meter|video|audio|img)$/.test(element.localName) || !element.innerText?.trim()) continue
  const { overflowX, overflowY, textOverflow } = styleOf(element)
  const hasSign = textOverflow === 'ellipsis' || element.closest('[title]') || element.querySelector('[title]')
  if (cuts(overflowX) && element.scrollWidth > element.clientWidth + 1 && !hasSign) faults.push(`${name(element)} is cut`)
  if (cuts(overflowY) && element.scrollHeight > element.clientHeight + 2) {
    faults.push(`${name(element)} is cut by ${element.scrollHeight - element.clientHeight} px at its bottom`)
  }
}

// Short words that are broken between two lines, and texts of missing values.
const words = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT)
while (words.nextNode()) {
  const node = words.currentNode
  const text = node.textContent
  if (/^(null|undefined|NaN|Invalid Date|\[object \w+\])$/.test(text.trim())) faults.push(`the page shows “${text.trim()}”`)
  if (!node.parentElement.closest('td, th, li, dd, p, label, button, h1, h2') || isHiddenByStyle(node.parentElement)) continue
  const range = document.createRange()
  range.selectNodeContents(node)
  if (range.getClientRects().length < 2) continue
  for (const { 0: word, index } of text.matchAll(/(?<=^|[\s(])[\p{L}’']{2,14}(?=$|[\s.,:;)])/gu)) {
    range.setStart(node, index)
    range.setEnd(node, index + word.length)
    if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) faults.push(`the word “${word}” is broken`)
  }
}

// Texts and controls that overlap.
function visiblePart(rect, element) {
  let { left, top, right, bottom } = rect
  for (const each of ancestors(element)) {
    const { overflowX, overflowY } = styleOf(each)
    if (overflowX === 'visible' && overflowY === 'visible') continue
    const box = each.getBoundingClientRect()
    if (overflowX !== 'visible') [left, right] = [Math.max(left, box.left), Math.min(right, box.right)]
    if (overflowY !== 'visible') [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)]
  }
  return right - left > 1 && bottom - top > 1 ? { left, top, right, bottom, element } : null
}
// What moves over the page when it is scrolled, such as the head of a long table, covers what is below it.
const layer = (element) => [...ancestors(element)].find((each) =>
  ['sticky', 'fixed'].includes(styleOf(each).position) || each.matches('.more-actions, .suggestions'))
const parts = []
const walker = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT)
while (walker.nextNode()) {
  const node = walker.currentNode
  const element = node.parentElement
  if (!node.textContent.trim() || isHiddenByStyle(element)) continue
  const range = document.createRange()
  range.selectNodeContents(node)
  for (const rect of range.getClientRects()) {
    const part = visiblePart(rect, element)
    if (part) parts.push({ ...part, node, layer: layer(element), text: node.textContent.trim() })
  }
}
for (const element of scope.querySelectorAll('button, input, select, textarea, progress, meter, img, video, audio')) {
  if (isHiddenByStyle(element)) continue
  const part = visiblePart(element.getBoundingClientRect(), element)
  if (part) parts.push({ ...part, layer: layer(element), text: element.getAttribute('aria-label') ?? element.textContent.trim() })
}
parts.sort((one, other) => one.top - other.top)
for (const [index, one] of parts.entries()) {
  for (let next = index + 1; next < parts.length && parts[next].top < one.bottom; next += 1) {
    const other = parts[next]
    const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
    const height = Math.min(one.bottom, other.bottom) - other.top
    const least = Math.min(one.bottom - one.top, other.bottom - other.top)
    if (width <= 2 || height <= 0.3 * least || one.layer !== other.layer) continue
    // A text that is cut has a place for the whole and one for its part; the text of a control is inside it.
    if (one.node && one.node === other.node) continue
    if (!(one.node && other.node) && (one.element.contains(other.element) || other.element.contains(one.element))) continue
    faults.push(`“${one.text.slice(0, 60)}” and “${other.text.slice(0, 60)}” overlap by ${Math.round(width)} × ${Math.round(height)} px`)
  }
}

// Charts whose axes are wrong.
const units = ['', 'B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
const number = (text) => {
  const [, digits, unit] = text.match(/^([\d.,]+) ?(\S*)/) ?? []
  return Number(digits?.replaceAll(',', '')) * 1024 ** Math.max(0, units.indexOf(unit) - 1)
}
for (const plot of scope.querySelectorAll('.plot')) {
  const title = plot.closest('figure').querySelector('figcaption').firstChild.textContent
  const labels = [...plot.querySelectorAll('.axis span')].map((each) => each.textContent)
  const [top, half, bottom] = labels.map(number)
  const bars = [...plot.querySelectorAll('rect:not(.hit)')].map((bar) => Number(bar.getAttribute('height')))
  if (!bars.some((height) => height > 0)) faults.push(`the chart “${title}” has an axis without values`)
  const digits = labels[1]?.match(/^[\d.,]+/)?.[0].replace(/[.,]/g, '').replace(/^0+|0+$/g, '') ?? ''
  if (digits.length > 2 && digits !== '512') faults.push(`the axis of the chart “${title}” has the odd number ${labels[1]}`)
  if (!(top > 0 && bottom === 0 && Math.abs(half - top / 2) <= 0.01 * top)) {
    faults.push(`the axis of the chart “${title}” has the wrong numbers ${labels.join(', ')}`)
  }
}

// Times of one page in two forms. Those of a list have no seconds, unless it is a log.
const times = [...scope.querySelectorAll('td time')].filter((each) => !isHiddenByStyle(each)).map((each) => each.textContent)
const exact = times.filter((text) => /\d:\d\d:\d\d/.test(text))
if (exact.length > 0 && exact.length < times.length) {
  faults.push(`tables have times with seconds and without: ${exact[0]}, ${times.find((text) => !exact.includes(text))}`)
}
return [...new Set(faults)].slice(0, 10)

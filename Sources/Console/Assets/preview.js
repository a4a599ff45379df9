import { button, h } from './dom.js'
import { fileKind } from './file-type.js'
import { formatBytes } from './format.js'
import { csvPlots } from './csv-plots.js'
import { declaredPixels } from './image-size.js'
import { jsonTree } from './json-tree.js'
import { MCAPError } from './mcap.js'
import { previewMCAP } from './preview-mcap.js'
import { ObjectBytes } from './ranges.js'
import { table } from './table.js'

/** The beginning of a file that is read for its preview, in bytes. */
const headSize = 64 << 10
const hexSize = 512
const imageLimit = 64 << 20
const pixelLimit = 100_000_000
const [csvRowLimit, csvColumnLimit, csvPlotLimit] = [50, 30, 2000]

/** Media types that the gateway passes on to the browser. Any other type, such as SVG or HTML, could run scripts. */
const shownTypes = {
  image: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/avif'],
  video: ['video/mp4', 'video/webm', 'video/ogg', 'video/quicktime'],
  audio: ['audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/x-wav', 'audio/flac', 'audio/mp4', 'audio/aac', 'audio/webm'],
  PDF: ['application/pdf'],
}

/** The reason why there is no preview. */
class NoPreview extends Error {}

/** A section with the preview of an object, which loads by itself. */
export function previewSection(listed, signal) {
  const content = h('div', { class: 'preview', 'aria-busy': 'true' }, h('p', { class: 'empty' }, 'Loading…'))
  const object = new ObjectBytes(listed.fileId, Number(listed.sizeBytes ?? 0))
  show(object, listed, signal).then((parts) => content.replaceChildren(...[parts].flat(Infinity).filter(Boolean)))
    .catch((error) => {
      if (signal.aborted) return
      content.replaceChildren(h('p', { class: 'empty' }, reason(error)))
    })
    .finally(() => content.removeAttribute('aria-busy'))
  return h('section', { 'aria-label': 'Preview' }, h('h2', {}, 'Preview'), content)
}

function reason(error) {
  return error instanceof NoPreview ? error.message : `There is no preview: ${error.message}`
}

async function show(object, listed, signal) {
  if (object.size === 0) throw new NoPreview('The object is empty.')
  const kind = fileKind(listed)
  const type = (listed.contentType ?? '').split(';')[0].trim().toLowerCase()
  if (kind in shownTypes) {
    if (!shownTypes[kind].includes(type)) return [await textOrHex(object, listed, signal)]
    return media[kind](object, type, signal)
  }
  if (listed.name?.toLowerCase().endsWith('.mcap') || type === 'application/mcap') {
    try {
      return await previewMCAP(object, signal)
    } catch (error) {
      if (!(error instanceof MCAPError)) throw error
      return [h('p', { class: 'warning' }, `The recording cannot be read: ${error.message}.`),
        hexHead(await object.read(0, hexSize, signal))]
    }
  }
  return textOrHex(object, listed, signal)
}

const media = {
  async image(object, type, signal) {
    if (object.size > imageLimit) {
      throw new NoPreview('There is no preview: the image is larger than 64 MiB.')
    }
    const pixels = declaredPixels(await object.read(0, headSize, signal))
    if (pixels === null && type !== 'image/avif') throw new NoPreview('There is no preview: the file is not an image.')
    if (pixels > pixelLimit) {
      throw new NoPreview(`There is no preview: the image has ${pixels.toLocaleString('en')} pixels.`)
    }
    const image = h('img', { src: await object.address(), alt: 'Preview of the image', decoding: 'async' })
    const actions = h('p', {}, button('Full screen', () => image.requestFullscreen()))
    image.addEventListener('error', () => actions.remove())
    return [mediaElement(image), actions]
  },
  async video(object) {
    return mediaElement(h('video', { src: await object.address(), controls: true, preload: 'metadata',
      'aria-label': 'Video' }))
  },
  async audio(object) {
    return mediaElement(h('audio', { src: await object.address(), controls: true, preload: 'metadata',
      'aria-label': 'Audio' }))
  },
  async PDF(object) {
    return h('p', {}, h('a', { href: await object.address(), target: '_blank', rel: 'noopener', class: 'button' },
      'Open the PDF in a new tab'))
  },
}

/** Shows a message in place of an element whose content the browser cannot decode. */
function mediaElement(element) {
  element.addEventListener('error', () => {
    element.replaceWith(h('p', { class: 'empty' }, 'There is no preview: the browser cannot decode the file.'))
  })
  return element
}

async function textOrHex(object, listed, signal) {
  const head = await object.read(0, headSize, signal)
  const text = decodedText(head, object.size > head.length)
  if (text === null) return hexHead(head.subarray(0, hexSize))
  const isPartial = object.size > head.length
  const hint = isPartial && h('p', { class: 'hint' }, `The first ${formatBytes(head.length)} are shown.`)
  if (/\.(csv|tsv)$/i.test(listed.name) || listed.contentType?.startsWith('text/csv')) {
    const rows = csvTable(text, /\.tsv$/i.test(listed.name) ? '\t' : ',')
    return [rows, hint]
  }
  const value = isPartial ? null : parsedJSON(text)
  if (value) return jsonTree(value)
  return [h('pre', { tabindex: 0, 'aria-label': 'Beginning of the text' }, text), hint]
}

/** Decodes UTF-8; `null` if the bytes are no text. The end of a beginning may be within a character. */
function decodedText(bytes, isPartial) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isPartial })
    return /[\u0000-\u0008\u000e-\u001a]/.test(text) ? null : text
  } catch {
    return null
  }
}

/** The object or array that a text of JSON describes; `null` for another text. */
function parsedJSON(text) {
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : null
  } catch {
    return null
  }
}

/** The beginning of a CSV file (RFC 4180): its first rows, and lines of the columns that have numbers. */
function csvTable(text, separator) {
  const [titles = [], ...values] = parseCSV(text, separator)
  const names = titles.slice(0, csvColumnLimit).map((title, index) => title || `Column ${index + 1}`)
  const columns = names.map((title, index) => ({ title, cell: (row) => row[index] || null }))
  const element = table(columns, values.slice(0, csvRowLimit), 'The table has no rows.')
  // It scrolls, also by the keyboard.
  element.tabIndex = 0
  return [csvPlots(names, values), element]
}

function parseCSV(text, separator) {
  const rows = [[]]
  let [value, isQuoted] = ['', false]
  const endValue = () => {
    rows.at(-1).push(value.slice(0, 200))
    value = ''
  }
  for (let at = 0; at < text.length && rows.length <= csvPlotLimit + 1; at += 1) {
    const character = text[at]
    if (isQuoted) {
      if (character !== '"') value += character
      else if (text[at + 1] === '"') value += text[at += 1]
      else isQuoted = false
    } else if (character === '"' && value === '') isQuoted = true
    else if (character === separator) endValue()
    else if (character === '\n') {
      endValue()
      rows.push([])
    } else if (character !== '\r') value += character
  }
  if (value || rows.at(-1).length > 0) endValue()
  return rows.filter((row) => row.length > 0).slice(0, csvPlotLimit + 1)
}

/** The first bytes as hexadecimal numbers and as characters. */
function hexHead(bytes) {
  const lines = []
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)]
    const numbers = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ').padEnd(48)
    const characters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${at.toString(16).padStart(8, '0')}  ${numbers} ${characters}`)
  }
  return [h('p', { class: 'hint' }, `The first ${bytes.length} bytes:`),
    h('pre', { tabindex: 0, class: 'hex', 'aria-label': 'First bytes' }, lines.join('\n'))]
}

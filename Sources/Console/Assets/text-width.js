const context = document.createElement('canvas').getContext('2d')
/** Widths by font and text, because the rows of a list have many equal texts. */
const widths = new Map()

/** The width of a text in pixels, in a font as CSS writes it; it reads no layout. */
export function textWidth(text, font) {
  const key = `${font}\n${text}`
  if (widths.size > 20_000) widths.clear()
  if (!widths.has(key)) {
    context.font = font
    widths.set(key, Math.ceil(context.measureText(text).width))
  }
  return widths.get(key)
}

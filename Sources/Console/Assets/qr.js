/**
 * QR codes (ISO/IEC 18004:2015) in byte mode with error correction level M, which recovers from 15 % of unreadable
 * codewords. A device's configuration has a few hundred bytes.
 */
import { svg } from './dom.js'

/** Error correction codewords of each block, and number of blocks, for versions 1 to 20 at level M (table 9). */
const correctionCounts = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26]
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16]

/** The largest text, in bytes: the capacity of version 20. */
const maximumLength = 666

/** Encodes a text as rows of modules, `true` for a dark one. Throws if the text is longer than 666 bytes. */
export function encodeQR(text) {
  const bytes = new TextEncoder().encode(text)
  for (let version = 1; version <= correctionCounts.length; version += 1) {
    const symbol = new QRSymbol(version)
    const codewords = Math.floor(symbol.dataPositions.length / 8)
    const data = dataCodewords(bytes, version, codewords - correctionCounts[version - 1] * blockCounts[version - 1])
    if (data) return symbol.rowsWith(withErrorCorrection(data, version, codewords))
  }
  throw new Error(`The text is too long for a QR code: ${bytes.length} bytes, maximum ${maximumLength} bytes.`)
}

/** Draws the QR code of a text with its quiet zone, in black on white in every color scheme. */
export function drawQR(text, title) {
  const rows = encodeQR(text)
  const size = rows.length + 8
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : '')))
  return svg('svg', { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': title, 'shape-rendering': 'crispEdges' },
    svg('rect', { width: size, height: size, fill: '#fff' }), svg('path', { d: path.join(''), fill: '#000' }))
}

/** Data codewords: mode, length, bytes, terminator and padding (7.4); `null` if the bytes do not fit. */
function dataCodewords(bytes, version, capacity) {
  const bits = []
  const push = (value, length) => {
    for (let bit = length - 1; bit >= 0; bit -= 1) bits.push((value >>> bit) & 1)
  }
  push(0b0100, 4)
  push(bytes.length, version < 10 ? 8 : 16)
  for (const byte of bytes) push(byte, 8)
  if (bits.length > capacity * 8) return null
  push(0, Math.min(4, capacity * 8 - bits.length))
  push(0, (8 - (bits.length % 8)) % 8)
  const codewords = []
  for (let at = 0; at < bits.length; at += 8) codewords.push(parseInt(bits.slice(at, at + 8).join(''), 2))
  for (let pad = 0xec; codewords.length < capacity; pad ^= 0xec ^ 0x11) codewords.push(pad)
  return codewords
}

/** Interleaved blocks of data and of error correction codewords (7.5 and 7.6). The last blocks are one byte longer. */
function withErrorCorrection(data, version, codewords) {
  const count = blockCounts[version - 1]
  const correctionCount = correctionCounts[version - 1]
  const short = Math.floor(codewords / count) - correctionCount
  const shortBlocks = count - (codewords % count)
  const divisor = generator(correctionCount)
  const blocks = []
  for (let block = 0, at = 0; block < count; block += 1) {
    const length = short + (block < shortBlocks ? 0 : 1)
    const part = data.slice(at, at + length)
    blocks.push({ part, correction: remainder(part, divisor) })
    at += length
  }
  const result = []
  for (let at = 0; at <= short; at += 1) for (const { part } of blocks) if (at < part.length) result.push(part[at])
  for (let at = 0; at < correctionCount; at += 1) for (const { correction } of blocks) result.push(correction[at])
  return result
}

// Arithmetic in GF(2⁸) modulo x⁸+x⁴+x³+x²+1, by logarithms to base 2.
const powers = [1]
while (powers.length < 255) powers.push((powers.at(-1) << 1) ^ (powers.at(-1) & 0x80 ? 0x11d : 0))
const logarithms = new Map(powers.map((value, exponent) => [value, exponent]))

function product(a, b) {
  return a && b ? powers[(logarithms.get(a) + logarithms.get(b)) % 255] : 0
}

/** The coefficients of ∏ (x − 2ⁱ) for i below the degree, highest power first, without the leading 1. */
function generator(degree) {
  let polynomial = [1]
  for (let root = 0; root < degree; root += 1) {
    polynomial = [...polynomial, 0].map((value, at) => value ^ product(polynomial[at - 1] ?? 0, powers[root]))
  }
  return polynomial.slice(1)
}

function remainder(data, divisor) {
  const rest = new Array(divisor.length).fill(0)
  for (const byte of data) {
    const factor = byte ^ rest.shift()
    rest.push(0)
    divisor.forEach((value, at) => { rest[at] ^= product(value, factor) })
  }
  return rest
}

const masks = [
  (x, y) => (x + y) % 2 === 0, (x, y) => y % 2 === 0, (x) => x % 3 === 0, (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0, (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/** A symbol with its function patterns (6.3) and the positions of its data modules. */
class QRSymbol {
  constructor(version) {
    this.size = 17 + 4 * version
    this.rows = Array.from({ length: this.size }, () => new Array(this.size).fill(null))
    this.drawPatterns(version)
    this.drawFormat(this.rows, 0)
    if (version >= 7) this.drawVersion(version)
    this.dataPositions = this.findDataPositions()
  }

  set(x, y, isDark) {
    if (x >= 0 && y >= 0 && x < this.size && y < this.size) this.rows[y][x] = Boolean(isDark)
  }

  /** Draws square rings around a center, dark at the given distances. */
  drawRings(x, y, radius, ...dark) {
    for (let dy = -radius; dy <= radius; dy += 1) {
      for (let dx = -radius; dx <= radius; dx += 1) {
        this.set(x + dx, y + dy, dark.includes(Math.max(Math.abs(dx), Math.abs(dy))))
      }
    }
  }

  drawPatterns(version) {
    const end = this.size - 1
    for (let at = 0; at <= end; at += 1) {
      this.set(6, at, at % 2 === 0)
      this.set(at, 6, at % 2 === 0)
    }
    for (const [x, y] of [[3, 3], [end - 3, 3], [3, end - 3]]) this.drawRings(x, y, 4, 0, 1, 3)
    if (version === 1) return
    // Annex E: the first alignment pattern is at 6, the others follow from the far end in equal steps.
    const count = Math.floor(version / 7) + 2
    const step = Math.ceil((4 * version + 4) / (2 * count - 2)) * 2
    const centers = [6]
    for (let at = 1; at < count; at += 1) centers.push(end - 6 - (count - 1 - at) * step)
    const isFinder = (x, y) => (x === 6 && y === 6) || (x === 6 && y === end - 6) || (x === end - 6 && y === 6)
    for (const x of centers) for (const y of centers) if (!isFinder(x, y)) this.drawRings(x, y, 2, 0, 2)
  }

  /** Draws both copies of the format information (7.9: level M and mask), and the module that is always dark. */
  drawFormat(rows, mask) {
    const bits = withRemainder(mask, 10, 0x537) ^ 0x5412
    for (let at = 0; at < 15; at += 1) {
      const isDark = Boolean((bits >>> at) & 1)
      if (at < 8) {
        rows[at < 6 ? at : at + 1][8] = isDark
        rows[8][this.size - 1 - at] = isDark
      } else {
        rows[8][at === 8 ? 7 : 14 - at] = isDark
        rows[this.size - 15 + at][8] = isDark
      }
    }
    rows[this.size - 8][8] = true
  }

  /** Draws both copies of the version information (7.10). */
  drawVersion(version) {
    const bits = withRemainder(version, 12, 0x1f25)
    for (let at = 0; at < 18; at += 1) {
      const [far, near] = [this.size - 11 + (at % 3), Math.floor(at / 3)]
      this.set(far, near, (bits >>> at) & 1)
      this.set(near, far, (bits >>> at) & 1)
    }
  }

  /**
   * The data positions in order (7.7.3): pairs of columns from the right, upwards and downwards in turn, without the
   * timing pattern.
   */
  findDataPositions() {
    const positions = []
    let isUpward = true
    for (let right = this.size - 1; right > 0; right -= 2) {
      if (right === 6) right = 5
      for (let step = 0; step < this.size; step += 1) {
        const y = isUpward ? this.size - 1 - step : step
        for (const x of [right, right - 1]) if (this.rows[y][x] === null) positions.push([x, y])
      }
      isUpward = !isUpward
    }
    return positions
  }

  /** The rows with the codewords, under the mask with the lowest penalty (7.8). */
  rowsWith(codewords) {
    const candidates = masks.map((mask, number) => {
      const rows = this.rows.map((row) => [...row])
      this.dataPositions.forEach(([x, y], at) => {
        const bit = ((codewords[at >>> 3] ?? 0) >>> (7 - (at & 7))) & 1
        rows[y][x] = Boolean(bit) !== mask(x, y)
      })
      this.drawFormat(rows, number)
      return { rows, penalty: penalty(rows) }
    })
    return candidates.reduce((best, next) => (next.penalty < best.penalty ? next : best)).rows
  }
}

/** The value, followed by the remainder of its division by the polynomial. */
function withRemainder(value, length, polynomial) {
  let rest = value
  for (let step = 0; step < length; step += 1) rest = (rest << 1) ^ ((rest >>> (length - 1)) & 1 ? polynomial : 0)
  return (value << length) | rest
}

/** The penalty of a symbol (table 11) for runs, blocks, finder-like patterns, and an uneven share of dark modules. */
function penalty(rows) {
  const size = rows.length
  const columns = rows.map((_, x) => rows.map((row) => row[x]))
  let points = 0
  for (const line of [...rows, ...columns]) {
    const text = line.map((isDark) => (isDark ? '1' : '0')).join('')
    for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2
    for (let at = 0; at + 11 <= size; at += 1) {
      const part = text.slice(at, at + 11)
      if (part === '10111010000' || part === '00001011101') points += 40
    }
  }
  for (let y = 1; y < size; y += 1) {
    for (let x = 1; x < size; x += 1) {
      if (rows[y][x] === rows[y][x - 1] && rows[y][x] === rows[y - 1][x] && rows[y][x] === rows[y - 1][x - 1]) points += 3
    }
  }
  const dark = rows.flat().filter(Boolean).length
  return points + Math.floor(Math.abs((dark * 20) / (size * size) - 10)) * 10
}

/**
 * Returns the number of pixels that an image's header declares, so that a small file cannot make the browser decode a
 * huge image; `null` if the header is not understood. `bytes`: the beginning of the file.
 */
export function declaredPixels(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const starts = (...values) => values.every((value, index) => bytes[index] === value)
  if (starts(0x89, 0x50, 0x4e, 0x47) && bytes.length >= 24) return view.getUint32(16) * view.getUint32(20)
  if (starts(0x47, 0x49, 0x46) && bytes.length >= 10) return view.getUint16(6, true) * view.getUint16(8, true)
  if (starts(0x42, 0x4d) && bytes.length >= 26) {
    return Math.abs(view.getInt32(18, true)) * Math.abs(view.getInt32(22, true))
  }
  if (starts(0xff, 0xd8)) return jpegPixels(bytes, view)
  if (starts(0x52, 0x49, 0x46, 0x46) && bytes.length >= 30) return webpPixels(bytes, view)
  return null
}

/** The frame header of a JPEG file (ITU-T T.81, section B.2.2) follows its other segments. */
function jpegPixels(bytes, view) {
  let position = 2
  while (position + 9 <= bytes.length && bytes[position] === 0xff) {
    const marker = bytes[position + 1]
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return view.getUint16(position + 5) * view.getUint16(position + 7)
    }
    position += 2 + view.getUint16(position + 2)
  }
  return null
}

/** The dimensions of the three forms of WebP (RFC 9649). */
function webpPixels(bytes, view) {
  const form = String.fromCharCode(...bytes.subarray(12, 16))
  if (form === 'VP8X') {
    const dimension = (at) => 1 + bytes[at] + (bytes[at + 1] << 8) + (bytes[at + 2] << 16)
    return dimension(24) * dimension(27)
  }
  if (form === 'VP8 ') return (view.getUint16(26, true) & 0x3fff) * (view.getUint16(28, true) & 0x3fff)
  if (form === 'VP8L') {
    const bits = view.getUint32(21, true)
    return (1 + (bits & 0x3fff)) * (1 + ((bits >> 14) & 0x3fff))
  }
  return null
}

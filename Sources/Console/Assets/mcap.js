/**
 * The summary of a recording in the MCAP format (https://mcap.dev/spec), read from the end of the file: no message is
 * read, so that compressed chunks make no difference. Every length is checked against the bytes that are there.
 */

const magic = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a]
/** The footer record with its magic bytes: opcode, length, summary start, offset start, checksum, magic. */
const footerSize = 1 + 8 + 20 + 8
/** The largest summary that is read, in bytes. */
const summaryLimit = 16 << 20
const entryLimit = 10_000
const textLimit = 4096
const compressionLimit = 8
/** The largest record of metadata that is read, in bytes. */
const metadataLimit = 64 << 10

const opcodes = { header: 1, footer: 2, schema: 3, channel: 4, chunkIndex: 8, attachmentIndex: 10, statistics: 11,
  metadata: 12, metadataIndex: 13, summaryOffset: 14 }
/** The groups of records that are read of a summary above the limit, the most important first. */
const groups = [opcodes.statistics, opcodes.channel, opcodes.schema, opcodes.attachmentIndex, opcodes.metadataIndex]

/** The reason why a file cannot be read as MCAP. */
export class MCAPError extends Error {}

/** The fields of a record; a field that exceeds the record is an error. */
class Fields {
  constructor(bytes) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.position = 0
  }

  take(count) {
    const start = this.position
    if (count > this.bytes.length - start) throw new MCAPError('a field is longer than its record')
    this.position += count
    return start
  }

  u16() { return this.view.getUint16(this.take(2), true) }

  u32() { return this.view.getUint32(this.take(4), true) }

  u64() { return this.view.getBigUint64(this.take(8), true) }

  text() {
    const length = this.u32()
    const start = this.take(length)
    const shown = this.bytes.subarray(start, start + Math.min(length, textLimit))
    return new TextDecoder().decode(shown) + (length > textLimit ? '…' : '')
  }

  /** The fields of a map, whose length in bytes comes first. */
  map() {
    const length = this.u32()
    const start = this.take(length)
    return new Fields(this.bytes.subarray(start, start + length))
  }

  get isAtEnd() { return this.position >= this.bytes.length }
}

function hasMagic(bytes, start) {
  return magic.every((byte, index) => bytes[start + index] === byte)
}

/** Calls `handle(opcode, fields)` with each record. */
function forEachRecord(bytes, handle) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let position = 0
  while (position < bytes.length) {
    if (bytes.length - position < 9) throw new MCAPError('a record is cut short')
    const length = view.getBigUint64(position + 1, true)
    const start = position + 9
    if (length > BigInt(bytes.length - start)) throw new MCAPError('a record is longer than the summary')
    handle(bytes[position], new Fields(bytes.subarray(start, start + Number(length))))
    position = start + Number(length)
  }
}

function append(list, entry) {
  if (list.length >= entryLimit) throw new MCAPError(`the summary has more than ${entryLimit} entries of one kind`)
  list.push(entry)
}

/** Adds a chunk to the range of the messages' times. */
function addChunk(summary, start, end, hasMessageIndexes) {
  // Chunks without messages have zeros, or, by version 2.0 of the C++ writer, a start behind the end.
  if (start > end || (end === 0n && !hasMessageIndexes)) return
  const range = summary.chunkRange ?? { start, end }
  summary.chunkRange = { start: start < range.start ? start : range.start, end: end > range.end ? end : range.end }
}

/** Reads the records of a summary. */
function readSummary(bytes) {
  const summary = { schemas: new Map(), channels: [], chunkRange: null, compressions: new Set(), attachments: [],
    metadata: [], statistics: null }
  forEachRecord(bytes, (opcode, fields) => {
    switch (opcode) {
      case opcodes.schema: {
        const id = fields.u16()
        summary.schemas.set(id, { name: fields.text(), encoding: fields.text() })
        break
      }
      case opcodes.channel:
        append(summary.channels, { id: fields.u16(), schemaID: fields.u16(), topic: fields.text(),
          encoding: fields.text() })
        break
      case opcodes.chunkIndex: {
        const [start, end] = [fields.u64(), fields.u64()]
        fields.take(16)
        addChunk(summary, start, end, !fields.map().isAtEnd)
        fields.u64()
        const compression = fields.text()
        if (summary.compressions.size < compressionLimit) summary.compressions.add(compression)
        break
      }
      case opcodes.attachmentIndex: {
        fields.take(16)
        append(summary.attachments, { logTime: fields.u64(), createTime: fields.u64(), size: fields.u64(),
          name: fields.text(), mediaType: fields.text() })
        break
      }
      case opcodes.metadataIndex:
        append(summary.metadata, { start: fields.u64(), length: fields.u64(), name: fields.text() })
        break
      case opcodes.statistics: {
        const statistics = { messages: fields.u64() }
        fields.take(2)
        Object.assign(statistics, { channels: fields.u32() })
        fields.take(4 + 4)
        Object.assign(statistics, { chunks: fields.u32(), start: fields.u64(), end: fields.u64(), counts: new Map() })
        const counts = fields.map()
        while (!counts.isAtEnd) statistics.counts.set(counts.u16(), counts.u64())
        summary.statistics = statistics
        break
      }
      default:
        // Later versions of the format may add records (“Unknown opcodes should be skipped”).
    }
  })
  return summary
}

/** Reads those groups of records of a large summary that are needed, by the Summary Offset section. */
async function readGroups(object, summary, offsets, signal) {
  if (offsets.start < summary.start || offsets.start > offsets.end || offsets.end - offsets.start > summaryLimit) {
    throw new MCAPError('the summary is larger than 16 MiB')
  }
  const places = new Map()
  forEachRecord(await object.read(offsets.start, offsets.end, signal), (opcode, fields) => {
    if (opcode !== opcodes.summaryOffset) return
    const group = fields.bytes[fields.take(1)]
    const [start, length] = [Number(fields.u64()), Number(fields.u64())]
    if (start < summary.start || start + length > offsets.start) {
      throw new MCAPError('a group of records is not within the summary')
    }
    places.set(group, { start, end: start + length })
  })
  const wanted = places.has(opcodes.statistics) ? groups : [...groups, opcodes.chunkIndex]
  const parts = []
  let rest = summaryLimit
  for (const place of wanted.map((group) => places.get(group))) {
    if (!place || place.end - place.start > rest) continue
    rest -= place.end - place.start
    parts.push(await object.read(place.start, place.end, signal))
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

/** Returns the summary of a recording; throws `MCAPError` if the file is not a complete MCAP file with a summary. */
export async function readMCAP(object, signal) {
  if (object.size < magic.length + footerSize) throw new MCAPError('the file is too short')
  const head = await object.read(0, Math.min(object.size, 4096), signal)
  if (!hasMagic(head, 0)) throw new MCAPError('the file does not begin as an MCAP file')
  const tailStart = Math.max(0, object.size - (256 << 10))
  const tail = await object.read(tailStart, object.size, signal)
  const footerStart = tail.length - footerSize
  if (!hasMagic(tail, tail.length - magic.length) || tail[footerStart] !== opcodes.footer) {
    throw new MCAPError('the recording was not closed: it has no end record')
  }
  const footer = new Fields(tail.subarray(footerStart + 1, tail.length - magic.length))
  if (footer.u64() !== 20n) throw new MCAPError('the end record has a wrong length')
  const summaryStart = footer.u64()
  const summaryEnd = object.size - footerSize
  if (summaryStart === 0n) throw new MCAPError('the recording has no summary')
  if (summaryStart < BigInt(magic.length) || summaryStart > BigInt(summaryEnd)) {
    throw new MCAPError('the summary is not within the file')
  }
  const start = Number(summaryStart)
  const offsetStart = Number(footer.u64())
  let bytes
  if (summaryEnd - start > summaryLimit) {
    bytes = await readGroups(object, { start }, { start: offsetStart, end: summaryEnd }, signal)
  } else {
    bytes = start >= tailStart
      ? tail.subarray(start - tailStart, footerStart) : await object.read(start, summaryEnd, signal)
  }
  return { ...readHeader(head), ...readSummary(bytes) }
}

/** Returns the keys and values of a record of metadata, `[[key, value], …]`, which the summary has named. */
export async function readMetadata(object, { start, length }, signal) {
  if (length > metadataLimit) throw new MCAPError('the metadata are larger than 64 KiB')
  if (start + length > object.size) throw new MCAPError('the metadata are not within the file')
  const entries = []
  forEachRecord(await object.read(Number(start), Number(start + length), signal), (opcode, fields) => {
    if (opcode !== opcodes.metadata) throw new MCAPError('the metadata are another record')
    fields.text()
    const map = fields.map()
    while (!map.isAtEnd) append(entries, [map.text(), map.text()])
  })
  return entries
}

function readHeader(head) {
  try {
    if (head[magic.length] !== opcodes.header) return {}
    const fields = new Fields(head.subarray(magic.length + 9))
    return { profile: fields.text(), library: fields.text() }
  } catch (error) {
    if (error instanceof MCAPError) return {}
    throw error
  }
}

/** The time range of a recording in nanoseconds since 1970: `{start, end}`; `null` if it has no messages. */
export function recordedRange({ statistics, chunkRange }) {
  if (statistics?.messages === 0n) return null
  // Some writers have recorded the two times the wrong way round.
  if (statistics && statistics.start <= statistics.end) return { start: statistics.start, end: statistics.end }
  return chunkRange
}

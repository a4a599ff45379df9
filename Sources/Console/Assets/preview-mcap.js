import { h, propertyList } from './dom.js'
import { formatBytes, formatCount, formatDuration, timeElement } from './format.js'
import { MCAPError, readMCAP, readMetadata, recordedRange } from './mcap.js'
import { table } from './table.js'

/** Topics that are shown; a recording may have thousands. */
const topicLimit = 1000
/** Records of metadata whose values are shown. */
const metadataLimit = 20

/** Shows the summary of a recording. */
export async function previewMCAP(object, signal) {
  const summary = await readMCAP(object, signal)
  const { statistics, channels, schemas, attachments, metadata } = summary
  const range = recordedRange(summary)
  const compressions = [...summary.compressions].map((compression) => compression || 'none')
  // A summary need not repeat the channels.
  const hasTopics = statistics?.channels !== 0
  const topics = [...channels].sort((a, b) => a.topic.localeCompare(b.topic))
  const topicTable = table([
    { title: 'Topic', cell: (channel) => h('code', {}, channel.topic) },
    { title: 'Type', cell: (channel) => schemas.get(channel.schemaID)?.name || null },
    { title: 'Encoding', cell: (channel) => channel.encoding || null },
    { title: 'Messages', isNumber: true,
      cell: (channel) => countsTopics(statistics) ? (statistics.counts.get(channel.id) ?? 0n).toLocaleString('en') : null },
    { title: 'Rate', isNumber: true, cell: (channel) => rate(channel, statistics, range) },
  ], topics.slice(0, topicLimit),
    hasTopics ? 'The summary of the recording does not list its topics.' : 'The recording has no topics.')
  // It scrolls, also by the keyboard.
  topicTable.tabIndex = 0
  topicTable.classList.add('topics')
  return [
    propertyList([
      ['Start of the recording', range && nanosecondTime(range.start)],
      ['End of the recording', range && nanosecondTime(range.end)],
      ['Duration', range && formatDuration(Number(range.end - range.start) / 1e9)],
      ['Messages', statistics && statistics.messages.toLocaleString('en')],
      ['Topics', formatCount(channels.length, 'topic')],
      ['Compression', compressions.join(', ')],
      ['Profile', summary.profile],
      ['Recorder', summary.library],
    ]),
    topicTable,
    topics.length > topicLimit && h('p', { class: 'hint' }, `The first ${topicLimit} topics are shown.`),
    attachments.length > 0 && [h('h3', {}, 'Attachments'), table([
      { title: 'Name', cell: (attachment) => attachment.name },
      { title: 'Type', cell: (attachment) => attachment.mediaType || null },
      { title: 'Size', isNumber: true, cell: (attachment) => formatBytes(attachment.size) },
    ], attachments.slice(0, topicLimit), '')],
    metadata.length > 0 && [h('h3', {}, 'Metadata'),
      await Promise.all(metadata.slice(0, metadataLimit).map((each) => metadataTable(object, each, signal))),
      metadata.length > metadataLimit && h('p', { class: 'hint' }, `The first ${metadataLimit} records are shown.`)],
  ]
}

/** A record of metadata: its name, keys and values. */
async function metadataTable(object, record, signal) {
  try {
    return [h('h4', {}, record.name), propertyList(await readMetadata(object, record, signal))]
  } catch (error) {
    if (!(error instanceof MCAPError)) throw error
    return [h('h4', {}, record.name), h('p', { class: 'hint' }, `The record cannot be read: ${error.message}.`)]
  }
}

function nanosecondTime(nanoseconds) {
  const milliseconds = Number(nanoseconds / 1_000_000n)
  // Some recorders count from their start.
  if (milliseconds < 86_400_000 * 365) return `${(milliseconds / 1000).toFixed(3)} s`
  const date = new Date(milliseconds)
  return Number.isNaN(date.getTime()) ? `${nanoseconds} ns` : timeElement(date.toISOString())
}

/** Whether a recording with messages says how many of them each topic has, which the format leaves open. */
function countsTopics(statistics) {
  return Boolean(statistics) && (statistics.counts.size > 0 || statistics.messages === 0n)
}

function rate(channel, statistics, range) {
  const seconds = range ? Number(range.end - range.start) / 1e9 : 0
  const count = Number(statistics?.counts.get(channel.id) ?? 0n)
  return seconds > 0 && count > 1 ? `${(count / seconds).toLocaleString('en', { maximumFractionDigits: 1 })} Hz` : null
}

import { svg } from './dom.js'

/** The kinds of files, by the beginning of the content type or the end of the name; the first match applies. */
const kinds = [
  ['recording', ['application/mcap', 'application/x-mcap'], ['.mcap', '.bag', '.db3', '.rrd']],
  ['image', ['image/'], ['.png', '.jpg', '.jpeg', '.gif', '.webp', '.tif', '.tiff', '.bmp']],
  ['video', ['video/'], ['.mp4', '.webm', '.mkv', '.mov', '.avi']],
  ['audio', ['audio/'], ['.wav', '.mp3', '.ogg', '.flac', '.m4a']],
  ['PDF', ['application/pdf'], ['.pdf']],
  ['table', ['text/csv', 'application/vnd.apache.parquet', 'application/vnd.apache.arrow'], ['.csv', '.tsv', '.parquet']],
  ['archive', ['application/zip', 'application/gzip', 'application/x-tar', 'application/zstd'],
    ['.zip', '.gz', '.tgz', '.tar', '.zst', '.xz', '.7z']],
  ['text', ['text/', 'application/json', 'application/yaml', 'application/xml'],
    ['.txt', '.log', '.json', '.jsonl', '.yaml', '.yml', '.md', '.toml', '.ini']],
]

/** The lines of each icon in a box of 24 × 24. */
const shapes = {
  recording: 'M4 12h2l2-6 3 12 3-9 2 5 2-2h2',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01',
  video: 'M4 6h16v12H4zM10 9l5 3-5 3z',
  audio: 'M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
  PDF: 'M6 3h8l4 4v14H6zM14 3v4h4M9 16v-4h2a1.2 1.2 0 0 1 0 2.4H9',
  table: 'M4 5h16v14H4zM4 10h16M4 14.500h16M10 5v14',
  archive: 'M4 4h16v4H4zM5 8v12h14V8M10 12h4',
  text: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  folder: 'M3 6h6l2 2h10v11H3z',
}

/** The kind of a file, such as `video`; `file` if it is unknown; `folder` for the row of a folder. */
export function fileKind({ folder, contentType = '', name = '' }) {
  if (folder) return 'folder'
  const lowerName = name.toLowerCase()
  const byName = kinds.find(([, , ends]) => ends.some((end) => lowerName.endsWith(end)))
  const byType = kinds.find(([, types]) => types.some((type) => contentType.startsWith(type)))
  return (byType ?? byName)?.[0] ?? 'file'
}

/** The icon of a file's kind. */
export function fileIcon(object) {
  const icon = svg('svg', { viewBox: '0 0 24 24', class: 'file-icon', role: 'img' }, svg('title'), svg('path'))
  showFileKind(icon, object)
  return icon
}

/** Shows another file's kind in an icon. */
export function showFileKind(icon, object) {
  const kind = fileKind(object)
  if (icon.dataset.kind === kind) return
  icon.dataset.kind = kind
  icon.setAttribute('aria-label', kind)
  icon.firstChild.textContent = kind
  icon.lastChild.setAttribute('d', shapes[kind])
}

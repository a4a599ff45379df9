/** The largest number of files that are taken at once. */
const fileLimit = 10_000

/**
 * The files of a drop, `[{file, folder}]`; the folders that were dropped are searched. `folder` is the path of the file's
 * folder, empty for a single file. Called in the handler of the event, since the browser discards the data afterwards.
 */
export async function droppedFiles({ items, files }) {
  const entries = [...items].filter((item) => item.kind === 'file').map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile())
  if (entries.length === 0) return chosenFiles(files)
  const found = []
  for (const entry of entries) {
    if (entry instanceof File) add(found, entry, '')
    else if (entry) await collect(entry, '', found)
  }
  return found
}

/** The files of a file control, `[{file, folder}]`. */
export function chosenFiles(files) {
  const found = []
  for (const file of files) add(found, file, file.webkitRelativePath.split('/').slice(0, -1).join('/'))
  return found
}

function add(found, file, folder) {
  if (found.length >= fileLimit) {
    throw new Error(`At most ${fileLimit.toLocaleString('en')} files can be uploaded at once. Choose fewer files.`)
  }
  found.push({ file, folder })
}

async function collect(entry, folder, found) {
  if (entry.isFile) return add(found, await fileOf(entry), folder)
  const reader = entry.createReader()
  const path = folder ? `${folder}/${entry.name}` : entry.name
  // A reader returns its entries in portions, and an empty portion at the end.
  for (let portion = await readPortion(reader); portion.length > 0; portion = await readPortion(reader)) {
    for (const each of portion) await collect(each, path, found)
  }
  return undefined
}

function fileOf(entry) {
  return new Promise((resolve, reject) => {
    entry.file(resolve, () => reject(new Error(`${entry.name} cannot be read.`)))
  })
}

function readPortion(reader) {
  return new Promise((resolve, reject) => {
    reader.readEntries(resolve, () => reject(new Error('A folder cannot be read.')))
  })
}

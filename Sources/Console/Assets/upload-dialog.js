import { callAll, selectedOrganization } from './api.js'
import { showDialog, showFormDialog } from './dialog.js'
import { h, showNotice } from './dom.js'
import { formatBytes, formatCount, parseTags } from './format.js'
import { keepSiteNames } from './object-facets.js'
import { go } from './organization-choice.js'
import { chosenFiles, droppedFiles } from './upload-files.js'
import { uploadQueue } from './upload-queue.js'

const siteKey = 'console-upload-site'
/** The limits of tags; the gateway checks them when the file is complete, which would be late. */
const tagLimit = 250
const [tagKeyLimit, tagValueLimit] = [64, 2048]

/** Asks for the site and the tags of the files, `[{file, folder}]`, and begins their uploads. */
export async function uploadFiles(files) {
  if (files.length === 0) return
  const sites = await callAll('admin', 'ListSites', 'sites')
  keepSiteNames(selectedOrganization(), sites)
  const enabled = sites.filter(({ status }) => status === 1)
  if (enabled.length === 0) {
    await showDialog('Upload files', h('p', {}, 'An upload belongs to a site, and the organization has no enabled site. ',
      h('a', { href: '#/keys' }, 'Sites and keys')))
    return
  }
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0)
  await showFormDialog({
    title: `Upload ${formatCount(files.length, 'file')}`, submit: 'Upload',
    text: `${files.length === 1 ? `${files[0].file.name}, ` : ''}${formatBytes(bytes)}. `
      + 'Keep this tab open until the upload is complete.',
    fields: [
      { name: 'siteId', label: 'Site', type: 'select', value: localStorage.getItem(siteKey) ?? '',
        options: enabled.map(({ siteId, name }) => [siteId, name]) },
      { name: 'tags', label: 'Tags', type: 'textarea', rows: 3, spellcheck: 'false',
        hint: files.some(({ folder }) => folder)
          ? 'KEY=VALUE, one per line, for all files. The tag “folder” names the folder of each file.'
          : 'KEY=VALUE, one per line, for all files.' },
    ],
    action: async ({ siteId, tags }) => {
      uploadQueue.add(files, { siteId, tags: checkedTags(tags) })
      localStorage.setItem(siteKey, siteId)
      if (!location.hash.startsWith('#/uploads')) go('#/uploads')
    },
  })
}

function checkedTags(text) {
  const tags = parseTags(text)
  const length = (part) => new TextEncoder().encode(part).length
  if (Object.keys(tags).length > tagLimit) throw new Error(`Tags: at most ${tagLimit} tags are allowed.`)
  for (const [key, value] of Object.entries(tags)) {
    if (length(key) > tagKeyLimit) throw new Error(`Tags: “${key}” has more than ${tagKeyLimit} bytes.`)
    if (length(value) > tagValueLimit) throw new Error(`Tags: the value of “${key}” has more than ${tagValueLimit} bytes.`)
    if (/\p{Cc}/u.test(key + value)) throw new Error(`Tags: “${key}” has control characters.`)
  }
  return tags
}

/** Two buttons that choose files or a folder. */
export function chooseButtons(kind = '') {
  return [['Choose files', false], ['Choose a folder', true]].map(([label, isFolder]) => {
    const input = h('input', { type: 'file', multiple: true, webkitdirectory: isFolder, hidden: true,
      'aria-label': label, onchange: () => offer(() => {
        const files = chosenFiles(input.files)
        input.value = ''
        return files
      }) })
    return h('span', {}, input, h('button', { type: 'button', class: kind, onclick: () => input.click() }, label))
  })
}

async function offer(collect) {
  try {
    await uploadFiles(await collect())
  } catch (error) {
    showNotice(error.message)
  }
}

/** Accepts files that are dropped on `element`, and shows that it does. */
export function acceptDrops(element) {
  const isFiles = (event) => event.dataTransfer?.types.includes('Files')
  const mark = (isOver) => element.classList.toggle('drop-over', isOver)
  element.addEventListener('dragover', (event) => {
    if (!isFiles(event)) return
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
    mark(true)
  })
  element.addEventListener('dragleave', (event) => {
    if (!element.contains(event.relatedTarget)) mark(false)
  })
  element.addEventListener('drop', (event) => {
    if (!isFiles(event)) return
    event.preventDefault()
    mark(false)
    offer(() => droppedFiles(event.dataTransfer))
  })
}

// The page of a library: exports and imports it, and searches its digests.

const element = (id) => document.getElementById(id)
let search = { keyword: '', type: 'sentence', page: 0 }

// Shows a text to the person; empty = nothing.
function notify(text) {
  element('notice').textContent = text
}

function show(isSignedIn) {
  element('sign-in').hidden = isSignedIn
  element('library').hidden = !isSignedIn
}

// Makes a request, and returns the response. A failure has a message for the person.
async function send(path, options = {}) {
  let response
  try {
    response = await fetch(path, options)
  } catch {
    throw new Error('出错了，请确保服务已开启')
  }
  if (response.ok) return response
  if (response.status === 401) show(false)
  const failure = await response.json().catch(() => ({}))
  throw new Error(failure.message ?? '未知错误')
}

// Runs an action of a control, which is disabled meanwhile.
function on(id, event, action) {
  element(id).addEventListener(event, async (occurred) => {
    occurred.preventDefault()
    const controls = document.querySelectorAll('button')
    for (const control of controls) control.disabled = true
    notify('')
    try {
      await action()
    } catch (error) {
      notify(error.message)
      alert(error.message)
    } finally {
      for (const control of controls) control.disabled = false
    }
  })
}

async function exportLibrary() {
  const response = await send('/export')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = 'backup.zip'
  document.body.append(link)
  link.click()
  link.remove()
  // The browser reads the archive until the download is complete.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  notify('导出完成')
}

async function importLibrary() {
  const [file] = element('file').files
  element('file').value = ''
  if (!file) return
  const headers = { 'Content-Type': 'application/octet-stream' }
  await send('/import', { method: 'POST', headers, body: file })
  notify('导入完成')
}

// Returns a text whose ranges are marked.
function marked(content, ranges) {
  const parts = []
  let end = 0
  for (const { start, length } of ranges) {
    const mark = document.createElement('mark')
    mark.textContent = content.slice(start, start + length)
    parts.push(content.slice(end, start), mark)
    end = start + length
  }
  return [...parts, content.slice(end)]
}

async function showPage() {
  const response = await send(`/search?${new URLSearchParams(search)}`)
  const { results, hasMore } = await response.json()
  for (const { content, bookName, ranges } of results) {
    const item = document.createElement('li')
    item.append(...marked(content, ranges))
    const book = document.createElement('cite')
    book.textContent = bookName
    item.append(book)
    element('results').append(item)
  }
  element('more').hidden = !hasMore
  if (search.page === 0 && results.length === 0) notify('没有结果')
}

on('export', 'click', exportLibrary)
on('file', 'change', importLibrary)
element('import').addEventListener('click', () => element('file').click())
on('search', 'submit', () => {
  search = { keyword: element('keyword').value, type: element('type').value, page: 0 }
  element('results').replaceChildren()
  element('more').hidden = true
  return showPage()
})
on('more', 'click', () => {
  search.page += 1
  return showPage()
})
// Sends values as JSON.
function post(path, values) {
  const headers = { 'Content-Type': 'application/json' }
  return send(path, { method: 'POST', headers, body: JSON.stringify(values) })
}

on('change-password', 'submit', async () => {
  const [name, password, newPassword] = ['own-name', 'old-password', 'new-password'].map((id) => element(id).value)
  await post('/password', { name, password, newPassword })
  element('change-password').reset()
  notify('密码已修改')
})
on('sign-in', 'submit', async () => {
  await post('/session', { name: element('name').value, password: element('password').value })
  element('password').value = ''
  show(true)
})
on('sign-out', 'click', async () => {
  await send('/session', { method: 'DELETE' })
  element('results').replaceChildren()
  show(false)
})

// A person who is not signed in gets the form, without an alert.
send('/status').then(
  () => show(true),
  (error) => notify(error.message)
)

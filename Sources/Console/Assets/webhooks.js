import { call } from './api.js'
import { badge, button, h, pageHeader, showNotice } from './dom.js'
import { showDialog } from './dialog.js'
import { formField } from './dialog.js'
import { timeElement } from './format.js'
import { pagedTable } from './table.js'

/** Shows the events that could not be delivered to a webhook, and delivers them again. */
export function renderWebhooks(body, { query, reload }) {
  const webhook = query.get('webhook') ?? ''
  const form = h('form', { class: 'filters' }, formField({ name: 'webhook', label: 'Webhook', value: webhook,
    hint: 'The name in the configuration (webhooks); empty for all.' }))
  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('change', (event) => {
    location.hash = `#/webhooks?${new URLSearchParams({ webhook: event.target.value.trim() })}`
  })
  body.replaceChildren(
    pageHeader('Webhooks', button('Refresh', reload)),
    h('p', {}, 'The gateway tries to deliver each event for a while. Events that it gave up are dead letters: look at the '
      + 'error, correct the receiver, and deliver them again.'),
    form,
    h('h2', {}, 'Dead letters'),
    pagedTable([
      { title: 'Event', cell: (letter) => h('code', {}, letter.type) },
      { title: 'Webhook', cell: (letter) => letter.webhook },
      { title: 'Subject', cell: (letter) => subjectLink(letter.subject) },
      { title: 'Occurred', cell: (letter) => timeElement(letter.occurredAt) },
      { title: 'Attempts', isNumber: true, cell: (letter) => badge(String(letter.attempts ?? 0)) },
      { title: 'Last error', cell: (letter) => letter.lastError || null },
      { title: '', isActions: true, cell: (letter) => [
        button('Payload', () => showPayload(letter)),
        button('Deliver again', () => redeliver(letter, reload)),
      ] },
    ], async (pageToken) => {
      const { deadLetters = [], nextPageToken } = await call('events', 'ListDeadLetters',
        { webhook, pageSize: 50, pageToken })
      return { rows: deadLetters, next: nextPageToken }
    }, 'No dead letters: every event was delivered, or is still being tried.'))
}

function subjectLink(subject = '') {
  const [kind, id] = subject.split('/')
  return kind === 'objects' && id ? h('a', { href: `#/objects/${id}` }, subject) : subject || null
}

function showPayload(letter) {
  let text = letter.payload ?? ''
  try {
    text = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // Shown as it is.
  }
  return showDialog(`Event ${letter.type}`, h('pre', { class: 'secret', tabindex: 0 }, text))
}

async function redeliver(letter, reload) {
  await call('events', 'RedeliverEvent', { eventId: letter.eventId, webhook: letter.webhook })
  showNotice(`The event will be delivered to ${letter.webhook} again.`)
  await reload()
}

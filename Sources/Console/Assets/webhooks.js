import { call } from './api.js'
import { badge, breadcrumb, button, h, nameLink, nameText, pageHeader, propertyList, showNotice } from './dom.js'
import { showDialog } from './dialog.js'
import { enumLabel, formatCount, formatDuration, timeElement } from './format.js'
import { pagedTable, table } from './table.js'
import { wait } from './wait.js'

const badgeKinds = { DELIVERY_STATE_DELIVERED: 'good', DELIVERY_STATE_DEAD: 'bad' }

/** Shows the webhooks of the configuration, and the events that could not be delivered. */
export async function renderWebhooks(body, { reload }) {
  const { webhooks = [] } = await call('events', 'ListWebhooks')
  body.replaceChildren(
    pageHeader('Webhooks', button('Refresh', reload)),
    table([
      { title: 'Webhook', cell: (webhook) => nameLink(webhook.name,
        `#/webhooks/${encodeURIComponent(webhook.name)}`) },
      { title: 'Receiver', cell: (webhook) => webhook.url },
      { title: 'Events', cell: (webhook) => (webhook.types ?? []).join(', ') || 'all' },
      { title: 'Organization', cell: (webhook) => webhook.organization || 'all' },
      { title: 'State', cell: ({ consecutiveFailures = 0, pausedUntil }) => (pausedUntil ? badge('paused', 'bad')
        : consecutiveFailures > 0 ? badge('failing', 'bad') : null) },
      { title: 'Waiting', isNumber: true, cell: (webhook) => count(webhook.pending) },
      { title: 'Dead letters', isNumber: true, cell: (webhook) => count(webhook.deadLetters) },
      { title: '', isActions: true, cell: (webhook) => button('Test', () => sendTest(webhook.name)) },
    ], webhooks, 'No webhooks. They are defined in the configuration (webhooks).'),
    h('h2', {}, 'Dead letters'),
    h('p', {}, 'The gateway tries to deliver each event for a while. An event that it gives up becomes a dead letter: look at '
      + 'the error, correct the receiver, and deliver the event again.'),
    deadLetterTable('', reload))
}

/** Shows one webhook with its latest deliveries. */
export async function renderWebhook(body, { id, reload, signal }) {
  const { webhooks = [] } = await call('events', 'ListWebhooks')
  const webhook = webhooks.find((each) => each.name === id)
  if (!webhook) throw new Error(`Webhook ${id} is not configured.`)
  body.replaceChildren(
    breadcrumb('Webhooks', '#/webhooks', id),
    pageHeader(id, button('Refresh', reload), button('Send a test event', async () => {
      await sendTest(id)
      await reload()
    }, 'primary')),
    deliveryState(webhook, signal),
    propertyList([
      ['Receiver', webhook.url], ['Events', (webhook.types ?? []).join(', ') || 'all'],
      ['Organization', webhook.organization || 'all'], ['Waiting', count(webhook.pending)],
      ['Dead letters', count(webhook.deadLetters)],
      ['Since the start', `${formatCount(webhook.delivered, 'event')} delivered, `
        + `${formatCount(webhook.failedAttempts, 'attempt')} failed`],
    ]),
    h('h2', {}, 'Deliveries'),
    pagedTable([
      { title: 'Occurred', cell: (delivery) => timeElement(delivery.occurredAt) },
      { title: 'Event', cell: eventText },
      { title: 'State', cell: ({ state }) => badge(enumLabel(state, 'DELIVERY_STATE_'), badgeKinds[state]) },
      { title: 'Failed attempts', isNumber: true, cell: (delivery) => count(delivery.failedAttempts) },
      { title: 'Next attempt or end', cell: (delivery) => timeElement(delivery.dueAt ?? delivery.endedAt) },
      { title: 'Last error', cell: (delivery) => delivery.lastError || null },
    ], async (pageToken) => {
      const { deliveries = [], nextPageToken } = await call('events', 'ListDeliveries',
        { webhook: id, pageSize: 50, pageToken })
      return { rows: deliveries, next: nextPageToken }
    }, 'No deliveries.'),
    h('h2', {}, 'Dead letters'), deadLetterTable(id, reload))
}

/** Time between two updates of the state of a webhook, and between two requests for it, in milliseconds. */
const [tickInterval, requestInterval] = [1000, 5000]

/** Whether the webhook is paused, why, and when it tries again; updated while the page is shown. */
function deliveryState(webhook, signal) {
  const text = h('span', { role: 'status' })
  // Not a part of the status, which would be announced every second.
  const next = h('span', {})
  const retry = button('Try now', async () => {
    const { deliveries = 0 } = await call('events', 'RetryWebhook', { webhook: webhook.name })
    showNotice(deliveries > 0 ? `${formatCount(deliveries, 'waiting event')} due now.` : 'The next event is tried now.')
    await load()
  })
  const element = h('div', { class: 'warning webhook-state' }, h('p', {}, text, ' ', next), retry)
  let state = webhook
  const draw = () => {
    const { consecutiveFailures: failures = 0, lastError = '', pausedUntil } = state
    element.hidden = failures === 0
    const seconds = pausedUntil ? Math.ceil((Date.parse(pausedUntil) - Date.now()) / 1000) : 0
    const shown = `${pausedUntil ? 'Paused' : 'Failing'}: ${lastError} (${formatCount(failures, 'time')} in a row).`
    if (text.textContent !== shown) text.textContent = shown
    next.textContent = !pausedUntil ? 'The events are tried again.'
      : `Next try ${seconds > 0 ? `in ${formatDuration(seconds)}` : 'now'}.`
  }
  const load = async () => {
    const { webhooks = [] } = await call('events', 'ListWebhooks', {}, { isBackground: true })
    state = webhooks.find(({ name }) => name === webhook.name) ?? state
    draw()
  }
  const watch = async () => {
    for (let elapsed = 0; !signal.aborted; elapsed += tickInterval) {
      await wait(tickInterval, signal)
      if (signal.aborted || document.hidden) continue
      if (elapsed % requestInterval === 0) await load().catch(() => {})
      else draw()
    }
  }
  draw()
  watch()
  return element
}

function count(value) {
  return Number(value ?? 0) < 0 ? '–' : Number(value ?? 0).toLocaleString('en')
}

async function sendTest(webhook) {
  await call('events', 'SendTestEvent', { webhook })
  showNotice(`An event webhook.test was sent to ${webhook}.`)
}

function deadLetterTable(webhook, reload) {
  return pagedTable([
    { title: 'Event', cell: eventText },
    { title: 'Webhook', cell: (letter) => nameText(letter.webhook) },
    { title: 'Occurred', cell: (letter) => timeElement(letter.occurredAt) },
    { title: 'Attempts', isNumber: true, cell: (letter) => count(letter.attempts) },
    { title: 'Last error', cell: (letter) => letter.lastError || null },
    { title: '', isActions: true, cell: (letter) => [
      button('Payload', () => showPayload(letter)),
      button('Deliver again', () => redeliver(letter, reload)),
    ] },
  ], async (pageToken) => {
    const { deadLetters = [], nextPageToken } = await call('events', 'ListDeadLetters',
      { webhook, pageSize: 50, pageToken })
    return { rows: deadLetters, next: nextPageToken }
  }, 'No dead letters: every event was delivered, or is still being tried.')
}

/** The type of an event, and below it what the event is about. */
function eventText({ type, subject = '' }) {
  const [kind, id] = subject.split('/')
  const text = h('code', { class: 'id' }, subject)
  return h('span', {}, h('code', { class: 'id' }, type),
    subject && h('small', {}, kind === 'objects' && id ? h('a', { href: `#/objects/${id}` }, text) : text))
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

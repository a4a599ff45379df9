import { call, hasRole } from './api.js'
import { auditAddress } from './audit-filter.js'
import { alertMessage, badge, button, h, showNotice } from './dom.js'
import { undoOperation } from './object-operation.js'
import { forgetLists } from './objects.js'
import { hasSeveralOrganizations, inOrganization } from './organization-choice.js'

/** The pages of resources, by the beginnings of their names. */
const pages = {
  devices: (id) => hasRole('operator') && `#/devices/${id}`,
  objects: (id) => `#/objects/${id}`,
  sites: (id) => hasRole('operator') && `#/keys?site=${id}`,
  users: () => hasRole('admin') && '#/users',
  invitations: () => hasRole('admin') && '#/users',
  deviceSuites: () => hasRole('operator') && '#/suites',
  copyJobs: (id) => `#/copies/${id}`,
  webhooks: (id) => hasRole('admin') && `#/webhooks/${id}`,
  organizations: () => hasRole('system admin') && '#/organizations',
}
/** Targets that are shown at a time. */
const pageSize = 50

/** The page of a resource, in the organization of its line in a log of all organizations. */
function addressOf(resource, { organization }) {
  const [kind, ...id] = resource.split('/')
  const address = pages[kind]?.(id.join('/'))
  return address ? inOrganization(address, hasSeveralOrganizations() && kind !== 'organizations' ? organization : undefined) : null
}

/** The sentence of a line with links, and the targets of the line as soon as they are opened. */
export function auditSentence(line) {
  const opened = h('div', { hidden: true })
  const toggle = (event) => {
    const control = event.currentTarget
    opened.hidden = !opened.hidden
    control.setAttribute('aria-expanded', String(!opened.hidden))
    if (opened.childElementCount === 0) opened.append(targetList(line))
  }
  const parts = (line.sentence ?? []).map(({ text, resource = '' }) => {
    if (resource === 'targets') return h('button', { type: 'button', class: 'link', 'aria-expanded': 'false', onclick: toggle }, text)
    const address = resource === 'lines' ? linesAddress(line) : addressOf(resource, line)
    return address ? h('a', { href: address }, h('bdi', {}, text)) : h('bdi', {}, text)
  })
  return h('div', { class: 'sentence' }, h('span', { title: `${line.actor} ${line.action} ${line.target ?? ''}` }, parts), opened)
}

/** The address of the lines that a line combines. */
function linesAddress({ actor, action, result, at, firstAt }) {
  // Times of the address have milliseconds, and those of lines microseconds.
  const to = new Date(Date.parse(at) + 1).toISOString()
  return auditAddress({ who: 'all', actor, action, result, from: firstAt, to, lines: 'each' })
}

/** The targets of a line with their names; those in the trash can be restored. */
function targetList(line) {
  const list = h('ul', {})
  let rest = []
  const extend = async () => {
    list.append(...rest.splice(0, pageSize).map((target) => targetItem(target, line)))
    more.hidden = rest.length === 0
  }
  const load = async () => {
    rest = (await call('audit', 'ListAuditLineTargets', { lineId: line.lineId })).targets ?? []
    list.replaceChildren()
    await extend()
  }
  const more = button('Show more', extend, 'more')
  more.hidden = true
  const operationId = line.action === 'ApplyDeleteObjects' && line.target.replace('objectOperations/', '')
  const restore = operationId && hasRole('admin') && button('Restore all objects of this deletion', async () => {
    await undoOperation({ operationId })
    forgetLists()
    await load()
  }, 'primary')
  load().catch((error) => list.replaceWith(alertMessage(error.message)))
  return h('div', { class: 'targets' }, restore, list, more)
}

function targetItem({ resource, displayName, state }, line) {
  const address = state === 'AUDIT_TARGET_STATE_ABSENT' ? null : addressOf(resource, line)
  const text = displayName || resource.split('/').slice(1).join('/') || resource
  const item = h('li', {}, address ? h('a', { href: address }, h('bdi', {}, text)) : h('bdi', {}, text))
  if (state === 'AUDIT_TARGET_STATE_ABSENT') item.append(' ', badge('does not exist any more'))
  if (state !== 'AUDIT_TARGET_STATE_TRASHED') return item
  const marks = h('span', {}, ' ', badge('in the trash'), ' ', hasRole('admin') && button('Restore', async () => {
    await call('management', 'RestoreObject', { fileId: resource.replace('objects/', '') })
    forgetLists()
    showNotice(`${text} was restored.`)
    marks.replaceChildren(' ', badge('restored', 'good'))
  }, 'link'))
  item.append(marks)
  return item
}

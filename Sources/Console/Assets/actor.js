/** Who did something, as the audit log names them: `user:system/ada`, `device:261122-000001`, `site:4`, `gateway`. */

import { selectedOrganization, session } from './api.js'
import { deviceLink } from './device-names.js'
import { h } from './dom.js'
import { siteName } from './object-facets.js'

/**
 * An actor by the name that people know: a user of another organization with it, a device and a site by their names. The tooltip has
 * the text of the audit log. `null` without an actor. `organization`: that of what was done, if it is not the selected one.
 */
export function actorElement(actor, organization) {
  if (!actor) return null
  const [kind, ...rest] = actor.split(':')
  const id = rest.join(':')
  if (kind === 'device') return deviceLink(id, organization || undefined)
  return h('span', { title: actor }, actorName(kind, id) ?? actor)
}

function actorName(kind, id) {
  if (kind === 'user') return userName(id)
  if (kind === 'site') return siteName(id)
  return { gateway: 'the gateway', doctor: 'the command doctor' }[kind]
}

/** A user's name; with its API token, if it called with one. */
function userName(id) {
  const [path, token] = id.split('#')
  const [organization, ...names] = path.split('/')
  const isForeign = organization !== (selectedOrganization() || session.user.organization)
  return `${names.join('/') || path}${isForeign && names.length > 0 ? ` of ${organization}` : ''}${token ? ', by an API token' : ''}`
}

import { call } from './api.js'
import { badge, button, copyable, h, pageHeader, showNotice } from './dom.js'
import { showFormDialog } from './dialog.js'
import { table } from './table.js'

/** Shows the public keys with which access tokens are verified, and replaces the key that signs them. */
export async function renderSigningKeys(body, { reload }) {
  const response = await fetch('/.well-known/jwks.json', { credentials: 'omit' })
  if (!response.ok) throw new Error(`The gateway answered with HTTP status ${response.status}.`)
  const { keys = [] } = await response.json()
  body.replaceChildren(
    pageHeader('Signing keys', button('Rotate', () => rotate(reload), 'primary')),
    h('p', {}, 'The gateway signs access tokens with the newest key. Older keys verify tokens until the last one that '
      + 'they signed has expired. Programs find the keys at ', h('code', { class: 'id' }, '/.well-known/jwks.json'), '.'),
    table([
      { title: 'Key', cell: (key) => copyable(key.kid) },
      { title: 'Algorithm', cell: (key) => `${key.alg ?? key.kty}${key.crv ? ` (${key.crv})` : ''}` },
      { title: 'Use', cell: (key) => badge(key.use === 'sig' ? 'signatures' : key.use ?? '') },
    ], keys, 'No keys.'))
}

function rotate(reload) {
  return showFormDialog({
    title: 'Rotate the signing key?', submit: 'Rotate',
    text: 'New tokens are signed with a new key. Tokens that were issued before stay valid until they expire. Programs '
      + 'that cache the public keys fetch them again when a token names an unknown key.',
    action: async () => {
      const { keyId } = await call('identities', 'RotateSigningKey', {}, { organization: '' })
      showNotice(`The signing key is now ${keyId}.`)
      await reload()
    },
  })
}

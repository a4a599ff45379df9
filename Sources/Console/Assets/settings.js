import { call } from './api.js'
import { h, pageHeader } from './dom.js'
import { formField } from './dialog.js'
import { table } from './table.js'

/** Shows the settings that the gateway runs with. */
export async function renderSettings(body) {
  const { settings = [] } = await call('system', 'ListSettings', {}, { organization: '' })
  const list = h('div', {})
  const search = formField({ name: 'text', label: 'Search', type: 'search', placeholder: 'key or value',
    'data-shortcut': 'search' })
  const choice = formField({ name: 'kind', label: 'Show', type: 'select',
    options: [['changed', 'Settings that are set'], ['all', 'All settings']] })
  const draw = () => {
    const [text, kind] = [search, choice].map((field) => field.querySelector('input, select').value.toLowerCase())
    const shown = settings.filter(({ key, value, source }) => (kind === 'all' || source !== 'default')
      && `${key} ${value}`.toLowerCase().includes(text))
    list.replaceChildren(table([
      { title: 'Key', cell: (setting) => h('code', { class: 'id' }, setting.key) },
      { title: 'Value', cell: (setting) => setting.value || null },
      { title: 'Source', cell: (setting) => breakable(setting.source) },
    ], shown, 'No settings match.'))
  }
  body.replaceChildren(
    pageHeader('Settings'),
    h('p', {}, 'The values with which the gateway runs; secrets are not shown. Change them in the configuration file, '
      + 'then reload or restart the gateway.'),
    h('div', { class: 'filters', oninput: draw }, search, choice), list)
  draw()
}

/** The name of a variable, which may be longer than a line, breaks between its section and its key. */
function breakable(source) {
  return source.split(/(?<=__)/).flatMap((part, index) => [index > 0 && h('wbr'), part])
}

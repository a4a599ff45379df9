import { h } from './dom.js'
import { formatCount, timeElement } from './format.js'
import { table } from './table.js'

/** Conditions that need nobody's attention. */
const calm = ['IN_ORDER', 'UPLOADING', 'RETIRED'].map((name) => `DEVICE_CONDITION_${name}`)

/** Why the device is silent, or what it does: a sentence, and below it the calls that it was made from. */
export function diagnosis({ diagnosis: found }) {
  if (!found) return null
  const { condition, sentence, refusals = [], unprovenCalls = [] } = found
  return h('section', { class: 'diagnosis', 'aria-label': 'Diagnosis' },
    h('p', { class: calm.includes(condition) ? '' : 'warning' }, sentence),
    refusals.length > 0 && h('details', {}, h('summary', {}, 'Refused calls with the device’s key'), table([
      { title: 'Reason', cell: ({ reason }) => h('code', {}, reason) },
      { title: 'Message', cell: ({ message }) => message },
      { title: 'Calls', isNumber: true, cell: ({ count }) => formatCount(count, 'call') },
      { title: 'First', cell: ({ firstAt }) => timeElement(firstAt) },
      { title: 'Last', cell: ({ lastAt }) => timeElement(lastAt) },
    ], refusals, '')),
    unprovenCalls.length > 0 && h('details', {}, h('summary', {}, 'Refused calls that only name the device'),
      h('p', { class: 'hint' }, 'Anybody can make these calls. They are counted since this gateway’s start.'), table([
        { title: 'Client address', cell: ({ address }) => h('code', {}, address) },
        { title: 'Reason', cell: ({ reason }) => h('code', {}, reason) },
        { title: 'Calls', isNumber: true, cell: ({ count }) => formatCount(count, 'call') },
        { title: 'Last', cell: ({ lastAt }) => timeElement(lastAt) },
      ], unprovenCalls, '')))
}

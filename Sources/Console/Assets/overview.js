import { call } from './api.js'
import { h, pageHead } from './dom.js'
import { fieldRow } from './dialog.js'
import { bytes, count } from './format.js'
import { barChart } from './chart.js'

const spans = [['7', 'the last 7 days'], ['30', 'the last 30 days'], ['90', 'the last 90 days'], ['365', 'the last year']]

/** What is stored, and what came and went. */
export async function renderOverview(body, { query }) {
  const days = Number(query.get('days') ?? 30)
  const statistics = await call('management', 'GetStatistics', { days })
  const each = statistics.days ?? []
  const sum = (member) => each.reduce((total, day) => total + Number(day[member] ?? 0), 0)
  const chart = (title, member, text) => barChart(
    title, each.map((day) => ({ label: day.date, value: Number(day[member] ?? 0) })), text)
  body.replaceChildren(
    pageHead('Overview', h('div', {
      onchange: (event) => { location.hash = `#/overview?days=${event.target.value}` },
    }, fieldRow({ name: 'days', label: 'In', type: 'select', value: days, options: spans }))),
    h('div', { class: 'tiles' },
      tile('Stored', bytes(statistics.storedBytes), count(statistics.storedObjects, 'object')),
      tile('Arrived', bytes(sum('arrivedBytes')), count(sum('arrivedObjects'), 'object')),
      tile('Downloads', bytes(sum('requestedBytes')), count(sum('requestedObjects'), 'request')),
      tile('Deleted', bytes(sum('deletedBytes')), count(sum('deletedObjects'), 'object'))),
    h('div', { class: 'charts' },
      chart('Stored at the end of the day', 'storedBytes', bytes),
      chart('Arrived', 'arrivedBytes', bytes),
      chart('Objects that arrived', 'arrivedObjects', (value) => count(value, 'object')),
      chart('Downloads', 'requestedBytes', bytes)))
}

function tile(title, value, more) {
  return h('div', { class: 'tile' }, h('h2', {}, title), h('p', { class: 'big' }, value), h('p', {}, more))
}

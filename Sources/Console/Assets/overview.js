import { call } from './api.js'
import { h, pageHeader } from './dom.js'
import { formField } from './dialog.js'
import { formatBytes, formatCount } from './format.js'
import { barChart } from './chart.js'

const periods = [['7', 'the last 7 days'], ['30', 'the last 30 days'], ['90', 'the last 90 days'], ['365', 'the last year']]

/** What is stored, and what came and went. */
export async function renderOverview(body, { query }) {
  const days = Number(query.get('days') ?? 30)
  const statistics = await call('management', 'GetStatistics', { days })
  const dailyStatistics = statistics.days ?? []
  const sum = (member) => dailyStatistics.reduce((total, day) => total + Number(day[member] ?? 0), 0)
  const chart = (title, member, text) => barChart(
    title, dailyStatistics.map((day) => ({ label: day.date, value: Number(day[member] ?? 0) })), text)
  body.replaceChildren(
    pageHeader('Overview', h('div', {
      onchange: (event) => { location.hash = `#/overview?days=${event.target.value}` },
    }, formField({ name: 'days', label: 'In', type: 'select', value: days, options: periods }))),
    h('div', { class: 'tiles' },
      tile('Stored', formatBytes(statistics.storedBytes), formatCount(statistics.storedObjects, 'object')),
      tile('Arrived', formatBytes(sum('arrivedBytes')), formatCount(sum('arrivedObjects'), 'object')),
      tile('Downloads', formatBytes(sum('requestedBytes')), formatCount(sum('requestedObjects'), 'request')),
      tile('Deleted', formatBytes(sum('deletedBytes')), formatCount(sum('deletedObjects'), 'object'))),
    h('div', { class: 'charts' },
      chart('Stored at the end of the day', 'storedBytes', formatBytes),
      chart('Arrived', 'arrivedBytes', formatBytes),
      chart('Objects that arrived', 'arrivedObjects', (value) => formatCount(value, 'object')),
      chart('Downloads', 'requestedBytes', formatBytes)))
}

function tile(title, value, more) {
  return h('div', { class: 'tile' }, h('h2', {}, title), h('p', { class: 'big' }, value), h('p', {}, more))
}

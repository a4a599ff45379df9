import { call } from './api.js'
import { h, pageHeader } from './dom.js'
import { formField } from './dialog.js'
import { formatBytes, formatCount } from './format.js'
import { barChart } from './chart.js'

const periods = [['7', 'Last 7 days'], ['30', 'Last 30 days'], ['90', 'Last 90 days'], ['365', 'Last 365 days']]

/** Shows what is stored, and what was uploaded, downloaded and deleted on each day. */
export async function renderOverview(body, { query }) {
  const days = Number(query.get('days') ?? 30)
  const statistics = await call('management', 'GetStatistics', { days })
  const dailyStatistics = statistics.days ?? []
  const sum = (member) => dailyStatistics.reduce((total, day) => total + Number(day[member] ?? 0), 0)
  const chart = (title, member, format) => barChart(
    title, dailyStatistics.map((day) => ({ label: day.date, value: Number(day[member] ?? 0) })), format)
  body.replaceChildren(
    pageHeader('Overview', h('div', {
      onchange: (event) => { location.hash = `#/overview?days=${event.target.value}` },
    }, formField({ name: 'days', label: 'Period', type: 'select', value: days, options: periods }))),
    h('div', { class: 'tiles' },
      tile('Stored', formatBytes(statistics.storedBytes), formatCount(statistics.storedObjects, 'object')),
      tile('Uploaded', formatBytes(sum('arrivedBytes')), formatCount(sum('arrivedObjects'), 'object')),
      tile('Downloads requested', formatBytes(sum('requestedBytes')), formatCount(sum('requestedObjects'), 'object')),
      tile('Deleted', formatBytes(sum('deletedBytes')), formatCount(sum('deletedObjects'), 'object'))),
    h('div', { class: 'charts' },
      chart('Bytes stored at the end of the day', 'storedBytes', formatBytes),
      chart('Bytes uploaded', 'arrivedBytes', formatBytes),
      chart('Objects uploaded', 'arrivedObjects', (value) => formatCount(value, 'object')),
      chart('Bytes requested for download', 'requestedBytes', formatBytes)),
    h('p', { class: 'hint' }, 'Days begin at midnight UTC.'))
}

function tile(title, value, detail) {
  return h('div', { class: 'tile' }, h('h2', {}, title), h('p', { class: 'big' }, value), h('p', {}, detail))
}

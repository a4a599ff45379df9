/** Sentences about the values of consecutive days, the last of which is today. */

const week = 7

/**
 * The sum and the average of the last `days` values, and the last week beside the week before it, if there was anything in both:
 * `120 MiB, 4 MiB a day. Last 7 days: 30 MiB, 20 % less than in the 7 days before.`
 */
export function flowText(values, days, format) {
  const total = sum(values.slice(-days))
  const [last, before] = [sum(values.slice(-week)), sum(values.slice(-2 * week, -week))]
  const average = `${format(total)}, ${format(total / days)} a day.`
  if (values.length < 2 * week || last + before === 0) return average
  return `${average} Last ${week} days: ${format(last)}, ${comparison(last, before)}.`
}

/** The difference between now and a week ago: `1.2 GiB, 30 MiB more than 7 days ago.` */
export function levelText(values, format) {
  const now = values.at(-1)
  if (values.length <= week) return `${format(now)}.`
  const difference = now - values.at(-1 - week)
  if (difference === 0) return `${format(now)}, as much as ${week} days ago.`
  return `${format(now)}, ${format(Math.abs(difference))} ${difference > 0 ? 'more' : 'less'} than ${week} days ago.`
}

function comparison(now, before) {
  if (before === 0) return `nothing in the ${week} days before`
  const percent = Math.round((100 * (now - before)) / before)
  if (percent === 0) return `as in the ${week} days before`
  return `${Math.abs(percent).toLocaleString('en')} % ${percent > 0 ? 'more' : 'less'} than in the ${week} days before`
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}

/** The names of programs in the header field User-Agent, the most specific first: browsers name others, too. */
const browsers = [
  ['Edge', /\bEdg\w*\/(\d+)/], ['Opera', /\bOPR\/(\d+)/], ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/], ['Safari', /\bVersion\/(\d+)[\d.]* .*Safari\//],
]
const systems = [
  ['Android', /Android/], ['iOS', /iPhone|iPad/], ['ChromeOS', /CrOS/], ['Windows', /Windows/], ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
]

/** A browser by its name, version and system: `Firefox 128 on Linux`. Other programs are shown as they name themselves. */
export function programName(userAgent) {
  const [browser, pattern] = browsers.find(([, each]) => each.test(userAgent)) ?? []
  if (!browser) return userAgent
  const [system] = systems.find(([, each]) => each.test(userAgent)) ?? []
  return `${browser} ${userAgent.match(pattern)[1]}${system ? ` on ${system}` : ''}`
}

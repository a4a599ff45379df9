/** The colors of the console: those of the system, or others that were chosen in this browser. */

const storageKey = 'console-theme'
export const themes = [['', 'Automatic'], ['light', 'Light'], ['dark', 'Dark']]

export function chosenTheme() {
  const theme = localStorage.getItem(storageKey) ?? ''
  return themes.some(([name]) => name === theme) ? theme : ''
}

export function chooseTheme(theme) {
  localStorage.setItem(storageKey, theme)
  applyTheme()
}

/** Shows the page in the chosen colors. */
export function applyTheme() {
  document.documentElement.dataset.theme = chosenTheme()
}

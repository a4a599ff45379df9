import { call } from './api.js'
import { showFormDialog } from './dialog.js'

/** Programs that open a recording from a URL; `address(url, base)` is the address that opens it. */
const viewers = {
  foxglove: { title: 'Foxglove', origin: () => 'https://app.foxglove.dev',
    address: (url) => `https://app.foxglove.dev/~/view?ds=remote-file&ds.url=${url}` },
  lichtblick: { title: 'Lichtblick', origin: (base) => new URL(base).origin,
    address: (url, base) => `${new URL(base).href.split('?')[0]}?ds=remote-file&ds.url=${url}` },
  rerun: { title: 'Rerun', origin: () => 'https://app.rerun.io', address: (url) => `https://app.rerun.io/?url=${url}` },
}
const lichtblickKey = 'console-lichtblick'
const lifetimes = [['3600', '1 hour'], ['14400', '4 hours'], ['86400', '1 day']]

/** Whether the viewers can open the object. */
export function isRecording({ name = '' }) {
  return /\.(mcap|bag|rrd|db3)$/i.test(name)
}

/** Opens a recording in a viewer, which reads it by a presigned URL. */
export function openInViewer(fileId) {
  return showFormDialog({
    title: 'Open in a viewer', submit: 'Open',
    text: 'The viewer reads the recording from the object store by a link that ends after the chosen time. The object '
      + 'store must allow the viewer’s address (object_store.cors_origins), and be reachable from this browser by '
      + 'HTTPS, or run on this machine.',
    fields: [
      { name: 'viewer', label: 'Viewer', type: 'select',
        options: Object.entries(viewers).map(([key, { title }]) => [key, title]) },
      { name: 'base', label: 'Address of Lichtblick', type: 'url',
        value: localStorage.getItem(lichtblickKey) ?? 'http://localhost:8080/', hint: 'Only for Lichtblick, which runs '
          + 'on your own machine or server.' },
      { name: 'lifetimeSeconds', label: 'The link is valid for', type: 'select', options: lifetimes },
    ],
    action: async ({ viewer, base, lifetimeSeconds }) => {
      if (viewer === 'lichtblick') {
        if (!/^https?:\/\//.test(base)) throw new Error('Address of Lichtblick: expected an address with http or https.')
        localStorage.setItem(lichtblickKey, base)
      }
      const { files } = await call('objects', 'RequestDownload', { fileIds: [fileId], lifetimeSeconds })
      open(viewers[viewer].address(encodeURIComponent(files[0].read.uri), base), '_blank', 'noopener,noreferrer')
    },
  })
}

import { filterKeys } from './filter-terms.js'
import { seesAllOrganizations } from './organization-choice.js'
import { callInZone } from './time-zone.js'

/** Objects in one page of the list, and in the first one, which is shown at once. */
const [pageSize, firstPageSize] = [250, 60]
const arrivalCheckSize = 100
const emptyTags = Object.freeze({})

/** The key of the tag in which clients send the source file's name; the list shows the name itself. */
export const fileNameTag = 'a206e337ecdf70a93bb611cf6a30c346.raw_file'

/** Texts that many objects share, so that a long list holds each of them once. */
const sharedTexts = new Map()

function shared(text) {
  if (sharedTexts.size > 10_000) sharedTexts.clear()
  if (!sharedTexts.has(text)) sharedTexts.set(text, text)
  return sharedTexts.get(text)
}

/** Tags that many objects share; they are replaced and never changed. */
const sharedTags = new Map()

function tagsOf({ tags = emptyTags }) {
  const entries = Object.entries(tags).filter(([key]) => key !== fileNameTag)
  if (entries.length === 0) return emptyTags
  const key = JSON.stringify(entries)
  if (sharedTags.size > 10_000) sharedTags.clear()
  if (!sharedTags.has(key)) {
    sharedTags.set(key, Object.freeze(Object.fromEntries(entries.map((entry) => entry.map(shared)))))
  }
  return sharedTags.get(key)
}

/** The members of an object that a list shows; an object that represents its folder has those of the folder, and `folder`. */
function listedObject(object) {
  const row = listedFile(object)
  if (!object.folder) return row
  const { path, filter, objects, sizeBytes, isLowerBound = false, recordedFrom, recordedTo } = object.folder
  return {
    ...row, key: filter, name: path.slice(path.lastIndexOf('/') + 1), size: Number(sizeBytes ?? 0), recordedFrom, recordedTo,
    folder: { path, filter, objects: Number(objects ?? 0), isLowerBound },
  }
}

/** The number of objects of a row. */
export function objectsOf(row) {
  return row.folder?.objects ?? 1
}

function listedFile(object) {
  return {
    key: object.fileId, fileId: object.fileId, name: object.name, size: Number(object.sizeBytes ?? 0),
    contentType: shared(object.contentType ?? ''), deviceId: shared(object.deviceId ?? ''),
    siteId: shared(object.siteId ?? ''), organization: shared(object.organization ?? ''),
    tags: tagsOf(object), createdAt: Number(object.createdAtUnix ?? 0), completedAt: Number(object.verifiedAtUnix ?? 0),
    recordedFrom: object.recordedFrom,
    recordedTo: object.recordedTo,
    topics: shared((object.topics ?? []).join(', ')),
  }
}

/** The objects that match a filter, loaded page by page as they are needed. */
export class ObjectSource {
  /**
   * `zone`: the zone of the days and times; `groupFolders`: whether each folder is one row; `withTopics`: whether the rows have the
   * topics of recordings.
   */
  constructor(filter, order, zone, { groupFolders, withTopics }) {
    this.filter = filter
    this.withTopics = withTopics
    /** Whether the rows have their organizations. */
    this.withOrganizations = seesAllOrganizations()
    this.zone = zone
    this.order = order
    this.groupFolders = groupFolders
    this.rows = []
    /** The rows by their keys: the file id, or the filter of a folder. */
    this.byKey = new Map()
    /** The number of objects of all rows. */
    this.covered = 0
    this.next = ''
    this.isComplete = false
    this.error = null
    this.wanted = 0
    this.isLoading = false
    /** The number of matching objects; `null` until it is known. */
    this.total = null
    this.isExact = false
    this.facets = []
    /** The values of tags of the rows: `{value, rows, differs}` by key. */
    this.tagValues = new Map()
    /** A number that changes with the order of tags. */
    this.tagsVersion = 0
    this.filterKeys = filterKeys(filter)
    this.compareTags = (left, right) => this.tagRank(left[0]) - this.tagRank(right[0]) || (left[0] < right[0] ? -1 : 1)
    this.onChange = () => {}
  }

  /** The number of rows, including rows that are not loaded yet, as if no further folder came. */
  get count() {
    if (this.isComplete || this.error) return this.rows.length
    return this.rows.length + Math.max(1, this.isExact ? this.total - this.covered : 0)
  }

  /** Loads until there are rows before `end`, or no more rows. */
  async ensure(end) {
    this.wanted = Math.max(this.wanted, end)
    if (this.isLoading || this.isComplete || this.error || this.rows.length >= this.wanted) return
    this.isLoading = true
    try {
      while (!this.isComplete && this.rows.length < this.wanted) {
        const page = await this.fetchPage(this.next, this.next ? pageSize : firstPageSize)
        this.append(page.objects ?? [])
        this.next = page.nextPageToken ?? ''
        this.isComplete = this.next === ''
        this.onChange()
      }
    } catch (error) {
      this.error = error
    } finally {
      this.isLoading = false
    }
    this.onChange()
  }

  /** Continues after an error. */
  retry() {
    this.error = null
    this.onChange()
    return this.ensure(this.rows.length + 1)
  }

  fetchPage(pageToken, size, options = {}) {
    return callInZone(this, 'objects', 'ListObjects',
      {
        pageSize: size, pageToken, filter: this.filter, orderBy: this.order, groupFolders: this.groupFolders,
        withTopics: this.withTopics, withOrganizations: this.withOrganizations,
      }, options)
  }

  append(objects) {
    for (const row of objects.map(listedObject)) {
      if (this.byKey.has(row.key)) continue
      this.note(row)
      this.rows.push(row)
      this.noteTags(row.tags)
    }
    this.tagsVersion += 1
  }

  note(row) {
    this.byKey.set(row.key, row)
    this.covered += objectsOf(row)
  }

  /** Notes which tags differ between rows. */
  noteTags(tags) {
    for (const [key, value] of Object.entries(tags)) {
      const known = this.tagValues.get(key)
      if (!known) this.tagValues.set(key, { value, rows: 1, differs: false })
      else Object.assign(known, { rows: known.rows + 1, differs: known.differs || known.value !== value })
    }
  }

  /** The place of a tag in a row: those of the filter, then those that differ between rows, then those that all rows share. */
  tagRank(key) {
    const inFilter = this.filterKeys.indexOf(key)
    if (inFilter >= 0) return inFilter - this.filterKeys.length
    const known = this.tagValues.get(key)
    return known && !known.differs && known.rows >= this.rows.length ? 1 : 0
  }

  async loadFacets(options = {}) {
    const { count = 0, isExact = false, facets = [] } = await callInZone(
      this, 'management', 'GetObjectFacets', { filter: this.filter }, options)
    this.total = Number(count)
    this.isExact = isExact
    this.facets = facets
    this.onChange()
  }

  /**
   * Adds objects that were completed since the list was loaded, and returns their number. Only the order of completion
   * has a place for them.
   */
  async loadArrivals() {
    if (this.order || this.isLoading || this.error || (this.rows.length === 0 && !this.isComplete)) return 0
    const { objects = [] } = await this.fetchPage('', arrivalCheckSize, { isBackground: true })
    const latest = objects.map(listedObject)
    // The newest file of a folder represents it: a folder with another one has more files.
    const known = latest.findIndex(({ key, fileId }) => this.byKey.get(key)?.fileId === fileId)
    const changed = known < 0 ? latest : latest.slice(0, known)
    const added = changed.filter(({ key }) => !this.byKey.has(key))
    if (changed.length === 0) return 0
    if (known < 0 && this.rows.length > 0) {
      // More arrived than one page: the list starts again.
      Object.assign(this, { rows: [], byKey: new Map(), covered: 0, next: '', isComplete: false })
      this.onChange()
      return 0
    }
    const grown = new Map(changed.filter(({ key }) => this.byKey.has(key)).map((row) => [row.key, row]))
    for (const row of grown.values()) this.covered -= objectsOf(this.byKey.get(row.key))
    this.rows = [...added, ...this.rows.map((row) => grown.get(row.key) ?? row)]
    for (const row of changed) this.note(row)
    // The number may include them already.
    if (this.total !== null) this.loadFacets({ isBackground: true }).catch(() => {})
    this.onChange()
    return added.length
  }

  /** Removes the rows with some keys after their objects were deleted. */
  remove(keys) {
    const removed = this.rows.filter((row) => keys.has(row.key)).reduce((sum, row) => sum + objectsOf(row), 0)
    this.rows = this.rows.filter((row) => !keys.has(row.key))
    this.covered -= removed
    if (this.total !== null) this.total -= removed
    this.onChange()
  }
}

/// The state of one upload and the journal that outlives the process: both change together, or not at all.
actor UploadLedger {
    private(set) var state: UploadState
    /// Whether an earlier run began it.
    let isResumed: Bool
    private let journal: UploadJournal

    /// Opens the journal at `path`.
    ///
    /// - Parameter begin: what an upload begins with, where the journal has none; `nil` = then there is no upload.
    static func open(_ path: String, begin: () throws -> UploadEvent?) throws -> UploadLedger? {
        let journal = try UploadJournal(path)
        let isResumed = !journal.events.isEmpty
        do {
            guard let first = try journal.events.first ?? begin() else {
                try journal.remove()
                return nil
            }
            if !isResumed { try journal.append(first) }
            var state = try UploadState(first)
            for event in journal.events.dropFirst() { try state.apply(event) }
            return UploadLedger(journal, state, isResumed: isResumed)
        } catch  where !isResumed {
            try journal.remove()
            throw error
        }
    }

    private init(_ journal: sending UploadJournal, _ state: UploadState, isResumed: Bool) {
        self.journal = journal
        self.state = state
        self.isResumed = isResumed
    }

    /// Makes the event durable, then true.
    func record(_ event: UploadEvent) throws {
        var next = state
        try next.apply(event)
        try journal.append(event)
        state = next
    }

    func remove() throws { try journal.remove() }
}

/// The state of one upload with its journal on the disk: each change is recorded before it takes effect.
actor UploadLedger {
    private(set) var state: UploadState
    /// Whether an earlier run began it.
    let isResumed: Bool
    private let journal: UploadJournal

    /// Opens the journal at `path`.
    ///
    /// - Parameter begin: returns the first event of a new upload if the journal is empty; `nil` = then there is no upload.
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

    /// Makes the event durable, then changes the state.
    func record(_ event: UploadEvent) throws {
        var next = state
        try next.apply(event)
        try journal.append(event)
        state = next
    }

    func remove() throws { try journal.remove() }
}

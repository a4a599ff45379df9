import AppProto
import Basics
import Database
import Synchronization

/// The part of an import that writes: it makes the owner's next library beside the current one, in many short transactions, and
/// replaces that by one more. A process that ends meanwhile leaves a library that is not current, which ``LibrarySweep`` removes.
struct LibraryStaging: Sendable {
    /// Runs a transaction; `frees` = it removes rows, so it is accepted while the disk is full.
    typealias Write =
        @Sendable (
            _ frees: Bool, _ body: @escaping @Sendable (Connection) throws -> Void
        ) async throws -> Void

    let database: Database
    let write: Write

    init(database: Database, write: Write? = nil) {
        self.database = database
        self.write =
            write ?? { frees, body in
                try await database.write(mayUseReserve: frees) { try body($0) }
            }
    }

    /// Adds the records of an archive to the library of an owner, all of them or none.
    ///
    /// - Throws: ``ArchiveFailure/archive(_:)`` if the library would exceed its limits.
    func add(_ contents: LibraryContents, _ relations: LibraryRelations, toLibraryOf owner: Int64) async throws {
        let begun = Lock((next: Int64(0), current: Int64?.none))
        try await write(false) { connection in
            let generations = LibraryGenerations(connection)
            let current = try generations.current(of: owner)
            let next = try generations.insert(for: owner)
            begun.withLock { $0 = (next, current) }
        }
        let (next, current) = begun.withLock { $0 }
        do {
            if let current { try await copy(current, to: next, besides: contents) }
            try await store(contents, relations, in: next)
            try await database.readInBackground { try LibraryRecords($0, library: next).checkLimits() }
            try await write(false) { try LibraryGenerations($0).makeCurrent(next, of: owner) }
        } catch {
            await discard(next)
            throw error
        }
        if let current { await discard(current) }
    }

    /// Copies a library, without the relations that the archive replaces.
    private func copy(_ current: Int64, to next: Int64, besides contents: LibraryContents) async throws {
        for table in LibraryTable.allCases {
            let ids = try await database.readInBackground { try LibraryRecords($0, library: current).ids(table) }
            for range in RowBatches.ranges(of: ids, size: \.size) {
                try Task.checkCancellation()
                let (first, last) = (ids[range.lowerBound].id, ids[range.upperBound - 1].id)
                try await write(false) { connection in
                    try LibraryRecords(connection, library: next).copy(table, from: current, first, through: last)
                }
            }
        }
        let creators = Set(contents.creators.map(\.id))
        var authorship: LibraryRelations.Authorship?
        repeat {
            let last = authorship
            let page = try await database.readInBackground {
                try LibraryRecords($0, library: current).authorships(after: last, limit: RowBatches.rows)
            }
            authorship = page.last
            try await inBatches(page.filter { !creators.contains($0.creator) }, in: next) { try $0.store($1) }
        } while authorship != nil
        let tags = Set(contents.tags.map(\.id))
        var tagging: LibraryRelations.Tagging?
        repeat {
            let last = tagging
            let page = try await database.readInBackground {
                try LibraryRecords($0, library: current).taggings(after: last, limit: RowBatches.rows)
            }
            tagging = page.last
            try await inBatches(page.filter { !tags.contains($0.tag) }, in: next) { try $0.store($1) }
        } while tagging != nil
        let books = Set(contents.books.map(\.id))
        let digests = try await database.readInBackground {
            try LibraryRecords($0, library: current).digests(of: books)
        }
        try await inBatches(digests, in: next) { try $0.set(book: nil, of: $1) }
    }

    private func store(_ contents: LibraryContents, _ relations: LibraryRelations, in next: Int64) async throws {
        try await inBatches(contents.books, in: next, size: { Int($0.textSize) }) { try $0.store($1) }
        try await inBatches(contents.creators, in: next, size: { Int($0.textSize) }) { try $0.store($1) }
        try await inBatches(contents.tags, in: next, size: { Int($0.textSize) }) { try $0.store($1) }
        try await inBatches(contents.digests, in: next, size: { Int($0.textSize) }) { try $0.store($1) }
        try await inBatches(relations.authorships, in: next) { try $0.store($1) }
        try await inBatches(Array(relations.books), in: next) { try $0.set(book: $1.value, of: $1.key) }
        try await inBatches(relations.taggings, in: next) { try $0.store($1) }
    }

    /// Stores rows in a library, a batch in each transaction.
    private func inBatches<Element: Sendable>(
        _ elements: [Element], in library: Int64, size: (Element) -> Int = { _ in 0 },
        _ body: @escaping @Sendable (LibraryRecords<Connection>, Element) throws -> Void
    ) async throws {
        for range in RowBatches.ranges(of: elements, size: size) {
            try Task.checkCancellation()
            try await write(false) { connection in
                let records = LibraryRecords(connection, library: library)
                for element in elements[range] { try body(records, element) }
            }
        }
    }

    /// Removes a library that nobody reads. If that fails, ``LibrarySweep`` does it.
    private func discard(_ library: Int64) async {
        do {
            while try await removeBatch(of: library) {}
        } catch {
            // The rows harm nobody meanwhile.
        }
    }

    /// Removes a batch of the rows of a library that nobody reads.
    ///
    /// - Returns: whether some may be left.
    func removeBatch(of library: Int64) async throws -> Bool {
        let isLeft = Lock(false)
        try await write(true) { connection in
            let more = try LibraryGenerations(connection).removeBatch(of: library)
            isLeft.withLock { $0 = more }
        }
        return isLeft.withLock { $0 }
    }
}

/// Parts of a long list of rows. Each is one transaction, so that other writers do not wait for all of them.
enum RowBatches {
    /// The largest number of rows of a part.
    static let rows = 500
    /// The size of the texts of a part in bytes, unless one row has more.
    static let bytes = 1 << 20

    /// - Parameter size: returns the bytes of an element.
    static func ranges<Element>(of elements: [Element], size: (Element) -> Int) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var (start, sum) = (0, 0)
        for (index, element) in elements.enumerated() {
            let size = size(element)
            if index > start, index - start == rows || sum + size > bytes {
                ranges.append(start..<index)
                (start, sum) = (index, 0)
            }
            sum += size
        }
        if start < elements.count { ranges.append(start..<elements.count) }
        return ranges
    }
}

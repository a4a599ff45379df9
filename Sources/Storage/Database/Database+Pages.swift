extension Database {
    /// Reads one page of a list: its first rows where ``read(_:)`` runs, and the rest in the background, if there is one.
    ///
    /// Short lists thus need no other thread, and nobody's long list holds up an event loop. The two parts are two reads, as two
    /// pages would be.
    ///
    /// - Parameter body: reads rows by an index, within the given limit: those after `last`, or the first ones of the page if that
    ///   is `nil`.
    package nonisolated(nonsending) func readPage<T: Sendable>(
        _ limit: PageLimit,
        _ body: @escaping @Sendable (ReadConnection, _ limit: PageLimit, _ last: T?) throws -> PageRows<T>
    ) async throws -> PageRows<T> {
        let part = try await read { try body($0, limit.partOnLoop, nil) }
        var page = PageRows<T>(limit)
        page.append(rest: part)
        guard let rest = limit.rest(after: page) else { return page }
        let last = page.rows.last
        page.append(rest: try await readInBackground { try body($0, rest, last) })
        return page
    }
}

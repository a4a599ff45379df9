import CommandLineInterface

/// Lists that come page by page.
enum Pages {
    /// Entries asked for at a time.
    static let size: Int32 = 500

    /// Every entry.
    ///
    /// - Parameter page: fetches the page of a token, the first by the empty one; the last has no next token.
    static func all<Entry>(
        _ page: (_ token: String) async throws -> (entries: [Entry], next: String)
    ) async throws -> [Entry] {
        var (entries, next) = try await page("")
        while !next.isEmpty {
            let (more, following) = try await page(next)
            guard following != next else { throw ClientFailure("the gateway's list does not end") }
            entries += more
            next = following
        }
        return entries
    }
}

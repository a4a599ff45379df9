import CommandLineInterface

/// Reads paginated lists.
enum Pages {
    /// The number of entries per page.
    static let size: Int32 = 500

    /// Returns the entries of all pages.
    ///
    /// - Parameter page: fetches the page of a token, beginning with the empty one; the last page has no next token.
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

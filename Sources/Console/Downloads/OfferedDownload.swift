/// A download that the console has offered to a browser.
struct OfferedDownload: Sendable {
    enum Kind: Sendable {
        case backup(BackupOptions)
        case archive(ArchiveOptions)
    }

    let kind: Kind
    /// The organization for which a system administrator acts; `nil` = the user's own.
    let organization: String?
}

/// The address from which the browser downloads the file.
struct DownloadOffer: Encodable {
    /// The part of the query before the ticket.
    static let query = "?ticket="

    let path: String
}

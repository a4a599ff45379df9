import Basics
import Crypto
import Database
import FoundationEssentials

/// The addresses of downloads and of objects, which a browser requests without the token of its session. Any gateway with the database
/// can answer them: a download is a row, and the address of an object contains what it stands for, encrypted.
extension ConsoleSessions {
    /// The validity of the address of a download, in seconds.
    private static let ticketSeconds: Int64 = 60

    /// - Returns: the ticket for the download, which is valid once and for a short time; a session has one at a time.
    func offer(_ download: OfferedDownload, in session: Session, at now: UnixTime) throws -> String {
        let text = SessionSecret.random()
        let stored = SealedDownload(download, until: now.adding(seconds: Self.ticketSeconds))
        let sealed = secrets.seal(Array(try JSONEncoder().encode(stored)), of: Self.owner(session, ticket: text))
        let digest = session.key.digest
        try database.writeBlocking(mayUseReserve: true) {
            try ConsoleSessionRecords($0).replaceTicket(session: digest, sealed: sealed)
        }
        return text
    }

    /// Returns the download of a ticket, which is not valid any more.
    func redeem(_ text: String, in session: Session, at now: UnixTime) throws -> OfferedDownload? {
        let (owner, digest) = (Self.owner(session, ticket: text), session.key.digest)
        let json = try database.writeBlocking(mayUseReserve: true) { [secrets] connection -> [UInt8]? in
            let records = ConsoleSessionRecords(connection)
            guard let sealed = try records.ticket(session: digest), let json = secrets.open(sealed, of: owner) else {
                return nil
            }
            try records.deleteTicket(session: digest)
            return json
        }
        guard let json else { return nil }
        let stored = try JSONDecoder().decode(SealedDownload.self, from: Data(json))
        return now < stored.expiresAt ? stored.download : nil
    }

    /// - Returns: the text of an address for reading an object, which is valid any number of times.
    func address(of content: SealedContent, in session: Session) throws -> String {
        Base64.encodeURL(
            secrets.seal(Array(try JSONEncoder().encode(content)), of: Self.ownerOfContents(session)))
    }

    /// Returns what the text of an address for reading an object stands for.
    func content(_ text: String, in session: Session, at now: UnixTime) -> SealedContent? {
        guard let sealed = Base64.decodeURL(text), let json = secrets.open(sealed, of: Self.ownerOfContents(session)),
            let content = try? JSONDecoder().decode(SealedContent.self, from: Data(json)), now < content.expiresAt
        else { return nil }
        return content
    }

    private static func owner(_ session: Session, ticket: String) -> [UInt8] {
        Array("ticket ".utf8) + session.key.digest + SessionSecret.digest(ticket)
    }

    private static func ownerOfContents(_ session: Session) -> [UInt8] { Array("contents ".utf8) + session.key.digest }
}

/// An object that an address stands for, as the address contains it.
struct SealedContent: Codable, Equatable {
    let fileID: String
    let organization: String?
    private let expiresAtMicroseconds: Int64

    init(fileID: String, organization: String?, until expiresAt: UnixTime) {
        self.fileID = fileID
        self.organization = organization
        expiresAtMicroseconds = expiresAt.microseconds
    }

    var expiresAt: UnixTime { UnixTime(microseconds: expiresAtMicroseconds) }
}

/// A download that a ticket stands for, as its row contains it.
private struct SealedDownload: Codable {
    let isBackup: Bool
    /// The options as JSON.
    let options: [UInt8]
    let organization: String?
    let expiresAtMicroseconds: Int64

    init(_ download: OfferedDownload, until expiresAt: UnixTime) {
        switch download.kind {
        case .backup(let options): (isBackup, self.options) = (true, options.json)
        case .archive(let options): (isBackup, self.options) = (false, options.json)
        }
        organization = download.organization
        expiresAtMicroseconds = expiresAt.microseconds
    }

    var expiresAt: UnixTime { UnixTime(microseconds: expiresAtMicroseconds) }

    var download: OfferedDownload? {
        let kind =
            isBackup
            ? BackupOptions(json: options).map { OfferedDownload.Kind.backup($0) }
            : ArchiveOptions(json: options).map { OfferedDownload.Kind.archive($0) }
        return kind.map { OfferedDownload(kind: $0, organization: organization) }
    }
}

import Foundation

/// The options of a backup that a page requests.
struct BackupOptions: Decodable, Sendable {
    static let form = #"{"withoutObjects": true or false}"#

    let withoutObjects: Bool

    init?(json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }
}

/// The address from which the browser downloads the archive.
struct BackupOffer: Encodable {
    /// The part of the query before the ticket.
    static let query = "?ticket="

    let path: String
}

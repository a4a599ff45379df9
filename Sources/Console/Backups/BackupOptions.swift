import Foundation

/// What a page wants in a backup.
struct BackupOptions: Decodable, Sendable {
    static let form = #"{"withoutObjects": true or false}"#

    let withoutObjects: Bool

    init?(json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }
}

/// Where the browser gets it.
struct BackupOffer: Encodable {
    /// What stands before the ticket.
    static let query = "?ticket="

    let path: String
}

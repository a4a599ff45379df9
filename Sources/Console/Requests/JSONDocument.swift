import Foundation

/// A JSON document that the console receives.
protocol JSONDocument: Decodable {}

extension JSONDocument {
    /// - Returns: `nil` if the document does not have the expected form.
    init?(json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }
}

/// The object that a page wants to show.
struct ContentRequest: JSONDocument, Sendable {
    static let form = #"{"fileId": …}"#

    let fileId: String
}

/// The objects of an archive that a page requests, as the gateway's REST route takes them.
struct ArchiveOptions: JSONDocument, Encodable, Sendable {
    static let form = #"{"fileIds": […]} or {"filter": …}"#
    /// The longest request in bytes, which has 10,000 ids.
    static let longest = 512 << 10

    let fileIds: [String]?
    let filter: String?

    var json: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}

/// The options of a backup that a page requests.
struct BackupOptions: JSONDocument, Sendable {
    static let form = #"{"withoutObjects": true or false}"#

    let withoutObjects: Bool

    var json: [UInt8] { Array(#"{"withoutObjects":\#(withoutObjects)}"#.utf8) }
}

/// The parameters with which a provider sent the browser back.
struct ProviderRedirect: JSONDocument {
    static let form = #"{"code": …, "state": …, "issuer": …}"#

    let code: String
    let state: String
    /// The provider's name for itself; `nil` if it sent none.
    let issuer: String?
}

import Foundation

/// The objects of an archive that a page requests, as the gateway's REST route takes them.
struct ArchiveOptions: JSONDocument, Encodable, Sendable {
    static let form = #"{"fileIds": […]} or {"filter": …}"#
    /// The longest request in bytes, which has 10,000 ids.
    static let longest = 512 << 10

    let fileIds: [String]?
    let filter: String?

    var json: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}

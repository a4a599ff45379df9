import Foundation

/// The object that a page wants to show.
struct ContentRequest: Decodable, Sendable {
    static let form = #"{"fileId": …}"#

    let fileId: String

    init?(json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }
}

import Foundation

/// The options of a backup that a page requests.
struct BackupOptions: Decodable, Sendable {
    static let form = #"{"withoutObjects": true or false}"#

    let withoutObjects: Bool

    init?(json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }

    var json: [UInt8] { Array(#"{"withoutObjects":\#(withoutObjects)}"#.utf8) }
}

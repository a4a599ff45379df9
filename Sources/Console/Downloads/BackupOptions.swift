/// The options of a backup that a page requests.
struct BackupOptions: JSONDocument, Sendable {
    static let form = #"{"withoutObjects": true or false}"#

    let withoutObjects: Bool

    var json: [UInt8] { Array(#"{"withoutObjects":\#(withoutObjects)}"#.utf8) }
}

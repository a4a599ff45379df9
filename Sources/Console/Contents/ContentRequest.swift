/// The object that a page wants to show.
struct ContentRequest: JSONDocument, Sendable {
    static let form = #"{"fileId": …}"#

    let fileId: String
}

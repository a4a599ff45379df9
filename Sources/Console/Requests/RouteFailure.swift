/// The error of a REST route of the gateway.
struct RouteFailure: JSONDocument {
    private struct Reason: Decodable {
        let message: String
    }

    private let error: Reason

    var message: String { error.message }

    init?(_ json: [UInt8]) { self.init(json: json) }
}

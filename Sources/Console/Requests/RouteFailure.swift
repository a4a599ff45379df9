import Foundation

/// The error of a REST route of the gateway.
struct RouteFailure: Decodable {
    private struct Reason: Decodable {
        let message: String
    }

    private let error: Reason

    var message: String { error.message }

    init?(_ json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }
}

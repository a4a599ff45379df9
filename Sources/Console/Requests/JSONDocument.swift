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

import Foundation

/// The parameters with which a provider sent the browser back.
struct ProviderRedirect: Decodable {
    static let form = #"{"code": …, "state": …, "issuer": …}"#

    let code: String
    let state: String
    /// The provider's name for itself; `nil` if it sent none.
    let issuer: String?

    init?(json: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = read
    }
}

/// The parameters with which a provider sent the browser back.
struct ProviderRedirect: JSONDocument {
    static let form = #"{"code": …, "state": …, "issuer": …}"#

    let code: String
    let state: String
    /// The provider's name for itself; `nil` if it sent none.
    let issuer: String?
}

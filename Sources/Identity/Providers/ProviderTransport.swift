/// Sends requests to identity providers.
protocol ProviderTransport: Sendable {
    /// - Throws: ``ProviderFailure`` for any response but 200, and for one that is longer than `limit` bytes.
    func get(_ url: String, limit: Int) async throws(ProviderFailure) -> ProviderDocument

    /// Posts a form.
    ///
    /// - Parameter authorization: the value of the Authorization field; `nil` = none.
    /// - Returns: the response, whatever its status.
    /// - Throws: ``ProviderFailure`` if there is no response, or one that is longer than `limit` bytes.
    func post(
        _ url: String, form: [(name: String, value: String)], authorization: String?, limit: Int
    ) async throws(ProviderFailure) -> (status: Int, body: [UInt8])
}

/// A document of a provider.
struct ProviderDocument: Sendable {
    let body: [UInt8]
    /// The `max-age` of its Cache-Control field; `nil` without it.
    let maxAge: Duration?
}

/// The reason why a provider could not be asked; it is for the log.
struct ProviderFailure: Error, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

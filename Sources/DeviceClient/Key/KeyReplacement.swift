import Proto

/// Replaces the device's key, as the gateway requests.
///
/// The new key is stored first, beside the present one, then exchanged for a token, and only then it is the device's. At each point,
/// one of the two keys in the folder is valid.
struct KeyReplacement: Sendable {
    private let folder: DeviceFolder
    private let key: DeviceKey

    init(_ folder: DeviceFolder, _ key: DeviceKey) {
        self.folder = folder
        self.key = key
    }

    /// Replaces the key.
    ///
    /// - Parameters:
    ///   - rotate: calls RotateCredential with the present key.
    ///   - exchange: calls ExchangeCredential with the new one.
    /// - Returns: the reply to the exchange; `nil` if another process replaces the key.
    /// - Throws: `CallFailure`, `DeviceFolder.Failure`; the present key may be valid or not then.
    func run(
        rotate: @Sendable (String) async throws -> String,
        exchange: @Sendable (String) async throws -> ExchangeCredentialResponse
    ) async throws -> ExchangeCredentialResponse? {
        guard let lock = try folder.lockKey() else { return nil }
        let present = await key.credential
        // The folder may have the key before it, if that could not be replaced earlier.
        try folder.storeAccepted(present, under: lock)
        guard try folder.initializedConfiguration().apiKey == present else { return nil }
        if let stored = try folder.storedRotation(), stored.formerKey == present {
            do {
                return try await finish(stored.nextKey, lock, exchange)
            } catch let failure as CallFailure where failure.isOfInvalidKey {
                // The gateway issued another one since.
            }
        }
        let next = try await rotate(present)
        try folder.write(StoredRotation(formerKey: present, nextKey: next), under: lock)
        return try await finish(next, lock, exchange)
    }

    private func finish(
        _ next: String, _ lock: KeyLock, _ exchange: @Sendable (String) async throws -> ExchangeCredentialResponse
    ) async throws -> ExchangeCredentialResponse {
        let reply = try await exchange(next)
        // The former key is invalid now, so that the reply counts even if the key cannot be stored: it is in the rotation's file.
        try? await key.use(next, under: lock)
        return reply
    }
}

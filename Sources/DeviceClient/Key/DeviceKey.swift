import GatewayFormats

/// The device's key in use. After an interrupted rotation, or one by another process, it is the other one of the rotation.
actor DeviceKey {
    private let folder: DeviceFolder
    private(set) var credential: String

    /// - Throws: `DeviceFolder.Failure`, also if the device is not initialized.
    init(_ folder: DeviceFolder) throws(DeviceFolder.Failure) {
        self.folder = folder
        credential = try folder.initializedConfiguration().apiKey
    }

    /// Makes a call with the key; if the gateway refuses it, once more with the other key of the last rotation.
    func trying<Result: Sendable>(_ call: @Sendable (String) async throws -> Result) async throws -> Result {
        let used = credential
        do {
            return try await call(used)
        } catch let refusal as CallFailure where refusal.isOfInvalidKey {
            guard let other = try? folder.storedRotation()?.other(than: used) else { throw refusal }
            do {
                let result = try await call(other)
                use(other)
                return result
            } catch let second as CallFailure where second.isOfInvalidKey {
                throw refusal
            }
        }
    }

    /// Uses a key that the gateway accepted, and stores it. If that fails, the next process finds the key in the rotation's file.
    private func use(_ key: String) {
        credential = key
        guard let lock = try? folder.lockKey() else { return }
        try? folder.storeAccepted(key, under: lock)
    }

    /// Uses a key that the gateway accepted.
    func use(_ key: String, under lock: KeyLock) throws(DeviceFolder.Failure) {
        credential = key
        try folder.storeAccepted(key, under: lock)
    }
}

extension CallFailure {
    /// Whether the gateway does not know the device's key.
    var isOfInvalidKey: Bool { detail == .authInvalidCredential }
}

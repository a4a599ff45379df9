import Basics
import GatewayFormats
import Glibc
import Proto

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

/// The last rotation of a device's key: the content of `key-rotation.json`. It is stored before the new key is used, and stays
/// afterward, since a gateway that was restored from a backup accepts the former key.
struct StoredRotation: Codable, Sendable, Hashable {
    var formerKey: String
    var nextKey: String

    /// Returns the other of the two keys; `nil` for a key that is neither.
    func other(than key: String) -> String? {
        key == formerKey ? nextKey : key == nextKey ? formerKey : nil
    }
}

/// The right to replace the device's key in its folder, which one process has at a time.
final class KeyLock: Sendable {
    private let descriptor: Int32

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
}

extension DeviceFolder {
    private var keyRotationPath: String { path + "/key-rotation.json" }
    private var keyLockPath: String { path + "/key.lock" }

    func storedRotation() throws(Failure) -> StoredRotation? { try read(keyRotationPath) }

    func write(_ rotation: StoredRotation, under lock: KeyLock) throws(Failure) {
        try write(rotation, to: keyRotationPath)
    }

    /// Removes the rotation of a key that the device has no more.
    func removeStoredRotation() throws(Failure) {
        guard unlink(keyRotationPath) == 0 || errno == ENOENT else { throw .last("remove", keyRotationPath) }
    }

    /// Takes the lock of the key.
    ///
    /// - Parameter waits: whether to wait while another process has it.
    /// - Returns: `nil` if another process has it.
    func lockKey(waits: Bool = false) throws(Failure) -> KeyLock? {
        let file = open(keyLockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last("open", keyLockPath) }
        while flock(file, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let failure = errno == EWOULDBLOCK ? nil : Failure.last("lock", keyLockPath)
            close(file)
            if let failure { throw failure }
            return nil
        }
        return KeyLock(file)
    }

    /// Stores a key that the gateway accepted as the device's, if the last rotation replaced it, or its replacement.
    func storeAccepted(_ key: String, under lock: KeyLock) throws(Failure) {
        guard var configuration = try configuration(), configuration.apiKey != key,
            try storedRotation()?.other(than: configuration.apiKey) == key
        else { return }
        configuration.apiKey = key
        try write(configuration)
    }
}

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

import Basics
import Foundation

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

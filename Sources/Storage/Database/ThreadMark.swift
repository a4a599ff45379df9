import Glibc

/// A thread-local mark: the database for which the thread is currently working.
///
/// It checks a database's rules about threads, so that a violation traps with a message at its place, instead of causing a deadlock
/// or a read of another snapshot.
struct ThreadMark: Sendable {
    /// The database whose closure the thread is running.
    static let closure = ThreadMark()
    /// The database whose writer the thread is.
    static let writer = ThreadMark()

    private let key: pthread_key_t

    private init() {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "The system has no thread-specific key left.")
        self.key = key
    }

    /// Whether the thread has the mark of `owner`.
    func isSet(to owner: ObjectIdentifier) -> Bool {
        pthread_getspecific(key) == Self.pointer(owner)
    }

    /// Runs `body` while the thread has the mark of `owner`.
    func with<T>(_ owner: ObjectIdentifier, _ body: () throws -> T) rethrows -> T {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, Self.pointer(owner))
        defer { pthread_setspecific(key, outer) }
        return try body()
    }

    private static func pointer(_ owner: ObjectIdentifier) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: owner))
    }
}

import Glibc

/// A mark that each thread carries for itself: which database it works for just now.
///
/// What a database's rules say about threads is checked with it, so that a mistake is a trap with a message where it is made
/// and not a deadlock, or a read of another snapshot, where it is met.
struct ThreadMark: Sendable {
    /// The database whose closure the thread is in.
    static let closure = ThreadMark()
    /// The database whose writer the thread is.
    static let writer = ThreadMark()

    private let key: pthread_key_t

    private init() {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "The system has no thread-specific key left.")
        self.key = key
    }

    /// Whether the thread carries the mark of `owner`.
    func isSet(to owner: ObjectIdentifier) -> Bool {
        pthread_getspecific(key) == Self.pointer(owner)
    }

    /// Runs `body` while the thread carries the mark of `owner`.
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

#if THREAD_SANITIZER
    import Glibc

    /// A value that is protected by its own pthread mutex, for builds with ThreadSanitizer, which sees every operation on it. The
    /// contended path of `Mutex` is a bare futex call, which the sanitizer does not recognize as synchronization.
    ///
    /// `@unchecked Sendable`: the value is reached under the mutex only.
    public struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {  // under the mutex
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        public init(_ initialValue: consuming sending Value) {
            mutex = .allocate(capacity: 1)
            pthread_mutex_init(mutex, nil)
            value = .allocate(capacity: 1)
            value.initialize(to: initialValue)
        }

        deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        /// Runs `body` while no other thread holds the lock.
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
#else
    public import Glibc
    public import Synchronization

    /// A value that is protected by its own lock, without an allocation.
    ///
    /// A thread that finds the lock taken lets others run, and tries again. The standard library's `Mutex`, which is inside, first
    /// spins for some ten microseconds there: of 16 threads on one core, whose locks are held for less than one, it took a sixth
    /// of the time.
    ///
    /// Public and inlinable, so that the compiler specializes it in other modules. With `-D THREAD_SANITIZER`
    /// (`scripts/lab sanitizers`) it is a pthread mutex. Every lock of the package has this type, so that the sanitizer sees them all.
    public struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
        @usableFromInline let mutex: Mutex<Value>

        @inlinable public init(_ initialValue: consuming sending Value) {
            mutex = Mutex(initialValue)
        }

        /// Runs `body` while no other thread holds the lock.
        @inlinable @inline(__always)
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            if let result = try mutex.withLockIfAvailable(body) { return result }
            return try withLockAfterOthers(body)
        }

        @inlinable @inline(never)
        borrowing func withLockAfterOthers<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            // Most locks are free after one yield. One that stays taken, e.g. during a disk call, is waited for.
            for _ in 0..<32 {
                sched_yield()
                if let result = try mutex.withLockIfAvailable(body) { return result }
            }
            return try mutex.withLock(body)
        }
    }
#endif

/// A setting that may change while the gateway runs: a reader gets the whole old value or the whole new one. Copies of the
/// structure that contains it share it, so a change through one copy applies to all.
///
/// Not a property wrapper: Swift 6.3 never releases a wrapper of class type that an initializer sets after `self.init()`.
package final class Live<Value: Sendable>: Sendable {
    private let current: Lock<Value>

    package init(_ value: Value) {
        current = Lock(value)
    }

    package var value: Value {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

import Glibc

#if !THREAD_SANITIZER
    package import Synchronization
#endif

#if THREAD_SANITIZER
    /// A value that is protected by its own pthread mutex, for builds with ThreadSanitizer, which sees every operation on it. The
    /// contended path of `Mutex` is a bare futex call, which the sanitizer does not recognize as synchronization.
    ///
    /// `@unchecked Sendable`: the value is reached under the mutex only.
    package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {  // under the mutex
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        package init(_ initialValue: consuming sending Value) {
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
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
#else
    /// A value that is protected by its own lock: the standard library's `Mutex`, or a pthread mutex if the package is built with
    /// `-D THREAD_SANITIZER` (`scripts/lab sanitizers`). Every lock of the package has this type, so that the sanitizer sees them
    /// all.
    package typealias Lock<Value: ~Copyable> = Mutex<Value>
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

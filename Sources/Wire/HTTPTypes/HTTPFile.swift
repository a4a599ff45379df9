import Glibc
import Synchronization

/// An open file whose descriptor is closed exactly once: by the caller of ``take()``, or with this object.
package final class HTTPFile: Sendable {
    private let descriptor: Atomic<Int32>

    /// Takes over `descriptor`, which must be open for reading.
    package init(owning descriptor: Int32) {
        self.descriptor = Atomic(descriptor)
    }

    /// Calls `body` with the descriptor, which stays open meanwhile unless it is transferred; -1 if it was transferred before.
    package func withDescriptor<T>(_ body: (Int32) -> T) -> T {
        withExtendedLifetime(self) { body(descriptor.load(ordering: .acquiring)) }
    }

    /// Transfers the descriptor to the caller, who has to close it; `nil` if it was transferred before.
    package func take() -> Int32? {
        let taken = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        return taken < 0 ? nil : taken
    }

    deinit {
        if let descriptor = take() {
            close(descriptor)
        }
    }
}

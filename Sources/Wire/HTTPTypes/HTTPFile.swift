import Glibc
import Synchronization

/// An open file whose descriptor is closed once: by whoever took it over, or with this object.
package final class HTTPFile: Sendable {
    private let descriptor: Atomic<Int32>

    /// Takes over `descriptor`, which must be open for reading.
    package init(owning descriptor: Int32) {
        self.descriptor = Atomic(descriptor)
    }

    /// Hands the descriptor to the caller, who closes it from now on; nil when it was taken before.
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

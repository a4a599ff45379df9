import Glibc
import Synchronization

/// A response over HTTP/1.1. The daemon sets `Date`, `Content-Length` and `Connection`.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A range of a file, sent by the kernel.
        case file(HTTPFile, offset: Int64, length: Int64)
        /// Content that is sent while it is produced: in chunks if its length is `nil`. A response whose source ends before the
        /// length is broken off.
        case stream(any HTTPBodySource & Sendable, length: Int64?)
        /// The response to HEAD, or a 304: the length that a response to GET would have, and no body.
        case omitted(length: Int64)
    }

    package var status: Int
    package var fields: HTTPFields
    package var body: Body
    /// Whether to close the connection after this response.
    package var closes = false

    package init(status: Int, fields: HTTPFields = [:], body: Body = .bytes([])) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

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

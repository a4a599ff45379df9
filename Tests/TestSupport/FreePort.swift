import Glibc
import Synchronization

/// A port of 127.0.0.1 that is reserved as long as this object exists, by a socket that cannot be shared. Connections to it are refused
/// unless the object listens.
///
/// Ports are outside of the range from which the kernel takes those of outgoing connections, and of listeners for any port. After the
/// release, a port would otherwise soon belong to another test.
package final class FreePort {
    package struct Taken: Error {}

    package let port: UInt16
    private let descriptor: Int32

    /// Below the first port of outgoing connections, which is 32768 unless somebody configured it.
    private static let ports = 10_000..<32_768
    /// The number of the next port. Two test runs on one machine begin at different ports.
    private static let next = Atomic<Int>(Int(getpid()) * 97)

    /// - Throws: ``Taken`` if another socket is bound to the port.
    package init(_ port: UInt16) throws(Taken) {
        self.port = port
        descriptor = Self.newSocket()
        let isBound = Self.withAddress(port) { bind(descriptor, $0, $1) == 0 }
        guard isBound else { throw Taken() }
    }

    deinit { close(descriptor) }

    /// Returns a port that nobody uses, and that no other test of this process gets.
    package static func any() throws(Taken) -> FreePort {
        for _ in ports {
            let number = next.add(1, ordering: .relaxed).oldValue
            if let port = try? FreePort(UInt16(ports.lowerBound + number % ports.count)) { return port }
        }
        throw Taken()
    }

    /// Lets the system establish connections, which nobody accepts.
    ///
    /// - Parameter queue: how many may wait.
    package func listen(queue: Int32) throws(Taken) {
        guard Glibc.listen(descriptor, queue) == 0 else { throw Taken() }
    }

    /// Whether connections to the port are accepted.
    package static func isTaken(_ port: UInt16) -> Bool {
        let descriptor = newSocket()
        defer { close(descriptor) }
        return connect(descriptor, to: port) == 0
    }

    /// Opens a connection without waiting for it, and returns its descriptor.
    package static func connecting(to port: UInt16) -> Int32 {
        let descriptor = newSocket(SOCK_NONBLOCK)
        _ = connect(descriptor, to: port)
        return descriptor
    }

    private static func newSocket(_ flag: __socket_type = SOCK_CLOEXEC) -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flag.rawValue), 0)
    }

    private static func connect(_ descriptor: Int32, to port: UInt16) -> Int32 {
        withAddress(port) { Glibc.connect(descriptor, $0, $1) }
    }

    private static func withAddress<Result>(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

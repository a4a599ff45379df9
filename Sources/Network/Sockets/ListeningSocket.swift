import Glibc
package import HTTPTypes

/// The reason why a listener cannot be opened. The description names the obstacle.
package struct ListenError: Error, Sendable, Equatable, CustomStringConvertible {
    package let address: PeerAddress
    /// The system's error number; 0 if the host name cannot be resolved.
    package let errno: Int32

    package init(address: PeerAddress, errno: Int32) {
        self.address = address
        self.errno = errno
    }

    package var description: String {
        let reason = errno == 0 ? "the host name cannot be resolved" : String(cString: strerror(errno))
        return "cannot listen on \(address): \(reason)"
    }
}

/// A bound, listening TCP socket. The caller owns its descriptor.
package struct ListeningSocket {
    package let descriptor: Int32
    /// The numeric address with the actual port.
    package let address: PeerAddress
    package let isIPv6: Bool

    /// - Parameter isShared: whether other sockets of this process may listen on the same port (SO_REUSEPORT).
    package init(_ address: PeerAddress, isShared: Bool = false) throws(ListenError) {
        var failure: Int32 = 0
        let opened = address.resolve(passive: true) { entry -> (Int32, Bool)? in
            let info = entry.pointee
            let type = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let descriptor = socket(info.ai_family, type, info.ai_protocol)
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
            if isShared { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, size) }
            if bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, 1024) == 0 {
                return (descriptor, info.ai_family == AF_INET6)
            }
            failure = errno
            close(descriptor)
            return nil
        }
        guard let (descriptor, isIPv6) = opened else { throw ListenError(address: address, errno: failure) }
        self.descriptor = descriptor
        self.isIPv6 = isIPv6
        self.address = Self.localAddress(descriptor) ?? address
    }

    /// Returns one socket for each of `count` loops, all on the same port, so that the kernel distributes connections.
    package static func shared(_ address: PeerAddress, count: Int) throws(ListenError) -> [ListeningSocket] {
        // With SO_REUSEPORT alone, a second gateway could silently share the port. So a plain socket is bound first, which fails if
        // any process listens there already.
        let probe = try ListeningSocket(address)
        close(probe.descriptor)
        var sockets: [ListeningSocket] = []
        do {
            for _ in 0..<count { sockets.append(try ListeningSocket(probe.address, isShared: true)) }
        } catch {
            for socket in sockets { close(socket.descriptor) }
            throw error
        }
        return sockets
    }

    private static func localAddress(_ descriptor: Int32) -> PeerAddress? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let failed = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return failed == 0 ? PeerAddress(storage) : nil
    }
}

import Foundation
import RPC

/// Opens the sockets of one listener: one for each loop, all on the same port (SO_REUSEPORT), so that the kernel
/// spreads connections over the loops.
enum ListeningSocket {
    /// - Parameter address: port 0 takes a free one.
    /// - Returns: as many bound descriptors as asked for, and the address with its port.
    static func open(_ address: PeerAddress, count: Int) throws(ListenError) -> ([Int32], PeerAddress) {
        // SO_REUSEPORT alone would let a second gateway share the port in silence: first a plain bind, which fails
        // where anybody listens already.
        let probe = try bound(address, isShared: false)
        var actual = localAddress(probe)
        close(probe)
        if actual == .unknown { actual = address }
        let resolved = PeerAddress(host: address.host, port: actual.port)
        var sockets: [Int32] = []
        for _ in 0..<count {
            do {
                sockets.append(try bound(resolved, isShared: true))
            } catch {
                sockets.forEach { _ = close($0) }
                throw error
            }
        }
        return (sockets, actual)
    }

    private static func bound(_ address: PeerAddress, isShared: Bool) throws(ListenError) -> Int32 {
        var failure = "the host name is unknown"
        let descriptor = address.resolve(passive: true) { entry -> Int32? in
            let info = entry.pointee
            let descriptor = socket(
                info.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
            if isShared { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, size) }
            if info.ai_family == AF_INET6 {
                setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
            }
            if bind(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return descriptor }
            failure = String(cString: strerror(errno))
            close(descriptor)
            return nil
        }
        guard let descriptor else { throw ListenError(address: address.description, reason: failure) }
        return descriptor
    }

    private static func localAddress(_ descriptor: Int32) -> PeerAddress {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let failed = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return failed == 0 ? PeerAddress(storage) : .unknown
    }
}

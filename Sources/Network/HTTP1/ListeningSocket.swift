import Glibc

/// A bound, listening TCP socket. Its descriptor belongs to whoever asked for it.
struct ListeningSocket {
    let descriptor: Int32
    let host: String
    let port: UInt16
    let isIPv6: Bool

    init(host: String, port: UInt16, backlog: Int32 = 511) throws(HTTPDaemon.StartError) {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let address = found else { throw .address(host) }
        defer { freeaddrinfo(address) }

        let type = address.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(address.pointee.ai_family, type, address.pointee.ai_protocol)
        guard socket >= 0 else { throw .listen(errno: errno) }
        var on: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard bind(socket, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0, listen(socket, backlog) == 0
        else {
            let code = errno
            close(socket)
            throw .listen(errno: code)
        }
        var bound = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var service = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let resolved = withUnsafeMutablePointer(to: &bound) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(socket, address, &length) == 0
                    && getnameinfo(
                        address, length, &name, socklen_t(name.count), &service, socklen_t(service.count),
                        NI_NUMERICHOST | NI_NUMERICSERV) == 0
            }
        }
        guard resolved, let port = UInt16(Self.text(service)) else {
            close(socket)
            throw .address(host)
        }
        descriptor = socket
        self.host = Self.text(name)
        self.port = port
        isIPv6 = address.pointee.ai_family == AF_INET6
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

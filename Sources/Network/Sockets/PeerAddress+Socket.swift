package import Glibc
package import HTTPTypes

extension PeerAddress {
    /// Converts a `sockaddr`.
    package init(_ storage: sockaddr_storage) {
        var storage = storage
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let failed = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getnameinfo(
                    address, socklen_t(MemoryLayout<sockaddr_storage>.size), &name, socklen_t(name.count), &port,
                    socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
            }
        }
        guard failed == 0 else {
            self = .unknown
            return
        }
        func text(_ characters: [CChar]) -> String {
            String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        self.init(host: text(name), port: Int(text(port)) ?? 0)
    }

    /// Calls `body` with each socket address of the host until it returns a result.
    package func resolve<Result>(passive: Bool, _ body: (UnsafePointer<addrinfo>) -> Result?) -> Result? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return nil }
        defer { freeaddrinfo(list) }
        var next = list
        while let entry = next {
            if let result = body(entry) { return result }
            next = entry.pointee.ai_next
        }
        return nil
    }
}

import Basics
import CUV
import Glibc
package import HTTPTypes
import RPC
package import Sockets
package import Wire

/// A client's connection to one address.
///
/// Sendable although it is mutable: its state is used on its loop only.
package final class RPCChannel: CallTransport, @unchecked Sendable {  // its socket belongs to its loop; checked there
    private let loop: EventLoop
    private let connection: ClientConnection
    /// The protocol on the socket: the connection itself, or TLS around it.
    private let connectionProtocol: any ConnectionProtocol
    private var socket: SocketConnection?

    private init(loop: EventLoop, address: PeerAddress, authorities: TLSAuthorities?, name: String) {
        self.loop = loop
        let plain = ClientConnection(loop: loop, authority: address.description, isSecure: authorities != nil)
        connection = plain
        connectionProtocol =
            authorities.map { TLSConnection(plain, authorities: $0, host: name, scratch: TLSScratch()) }
            ?? plain
    }

    private static let resolver = Worker.pool("names")

    /// The end of the message for a host without an address.
    package static let isUnresolved = "the host name cannot be resolved"

    /// Connects to the addresses of the host, one after the other.
    ///
    /// - Parameters:
    ///   - timeout: the time limit for each address.
    ///   - authorities: the authorities for the server's certificate; `nil` = cleartext.
    ///   - name: the DNS name or address in the server's certificate; `nil` = the host of `address`.
    /// - Throws: `GRPCStatus` UNAVAILABLE if no address accepts the connection.
    package static func connect(
        to address: PeerAddress, loop: EventLoop, timeout: Duration = .seconds(10),
        authorities: TLSAuthorities? = nil, name: String? = nil
    ) async throws -> RPCChannel {
        let channel = RPCChannel(
            loop: loop, address: address, authorities: authorities, name: name ?? address.host)
        var reason = Self.isUnresolved
        for target in await targets(of: address) {
            let status = await channel.open(target, timeout: timeout)
            if status == 0 { return channel }
            reason = String(cString: uv_strerror(status))
        }
        throw GRPCStatus(.unavailable, "cannot reach \(address): \(reason)")
    }

    /// Resolves the host on another thread: the system's resolver waits for name servers, and a loop must not wait.
    private static func targets(of address: PeerAddress) async -> [sockaddr_storage] {
        await resolver.run {
            var targets: [sockaddr_storage] = []
            _ = address.resolve(passive: false) { entry -> Never? in
                var storage = sockaddr_storage()
                memcpy(&storage, entry.pointee.ai_addr, Int(entry.pointee.ai_addrlen))
                targets.append(storage)
                return nil
            }
            return targets
        }
    }

    /// - Returns: libuv's status: 0, or the error.
    private func open(_ target: sockaddr_storage, timeout: Duration) async -> Int32 {
        await withCheckedContinuation { continuation in
            loop.run { [self] in
                let attempt = ConnectAttempt(loop: loop) { [self] socket, status in
                    if status == 0 {
                        self.socket = SocketConnection(
                            loop: loop, socket: socket, connectionProtocol: connectionProtocol
                        ) { [self] _ in
                            self.socket = nil
                        }
                    }
                    continuation.resume(returning: status)
                }
                attempt.start(target, timeout: timeout)
            }
        }
    }

    /// Ends the connection after the calls in progress.
    package func close() {
        loop.run { [self] in
            socket?.shutDown()
        }
    }

    package func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        try await onLoop { [self] in try await connection.unary(method, request, options: options) }
    }

    package func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        try await onLoop { [self] in
            try await connection.serverStreaming(method, request, options: options, receive: receive)
        }
    }

    /// Runs a call on the loop; cancels it if the caller's task is cancelled.
    private func onLoop<Result: Sendable>(_ call: @escaping @Sendable () async throws -> Result) async throws -> Result
    {
        let task = Task(executorPreference: loop, operation: call)
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// A connection attempt of a socket.
private final class ConnectAttempt {
    private let loop: EventLoop
    private let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
    private let socket = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    private let completion: (UnsafeMutablePointer<uv_tcp_t>, Int32) -> Void
    private var timer: LoopTimer?
    private var isTimedOut = false

    init(loop: EventLoop, completion: @escaping (UnsafeMutablePointer<uv_tcp_t>, Int32) -> Void) {
        self.loop = loop
        self.completion = completion
        uv_tcp_init(loop.uv, socket)
    }

    deinit {
        request.deallocate()
    }

    func start(_ target: sockaddr_storage, timeout: Duration) {
        // Released when the attempt has a result.
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let status = withUnsafePointer(to: target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                uv_tcp_connect(request, socket, address) { request, status in
                    guard let context = request?.pointee.data else { return }
                    Unmanaged<ConnectAttempt>.fromOpaque(context).takeRetainedValue().finish(status)
                }
            }
        }
        guard status == 0 else {
            Unmanaged.passUnretained(self).takeRetainedValue().finish(status)
            return
        }
        timer = loop.schedule(after: timeout) { [self] in
            // libuv ends the request with ECANCELED.
            isTimedOut = true
            closeSocket()
        }
    }

    private func finish(_ status: Int32) {
        timer?.cancel()
        timer = nil
        if status != 0 && !isTimedOut { closeSocket() }
        completion(socket, isTimedOut ? UV_ETIMEDOUT.rawValue : status)
    }

    private func closeSocket() {
        uv_close(UnsafeMutableRawPointer(socket).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle)?.assumingMemoryBound(to: uv_tcp_t.self).deallocate()
        }
    }
}

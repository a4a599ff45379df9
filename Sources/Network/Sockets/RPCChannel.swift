import CUV
import Foundation
import RPC
import Wire

/// A client's connection to one address.
///
/// Sendable although it has state: that is touched on its loop only.
public final class RPCChannel: CallTransport, @unchecked Sendable {
    private let loop: EventLoop
    private let connection: ClientConnection
    private var socket: SocketConnection?

    private init(loop: EventLoop, authority: String) {
        self.loop = loop
        connection = ClientConnection(loop: loop, authority: authority)
    }

    /// - Throws: `GRPCStatus` UNAVAILABLE where nobody answers.
    public static func connect(to address: PeerAddress, loop: EventLoop) async throws -> RPCChannel {
        let channel = RPCChannel(loop: loop, authority: address.description)
        let status = await withCheckedContinuation { continuation in
            loop.run { channel.open(address) { continuation.resume(returning: $0) } }
        }
        guard status == 0 else {
            let reason = status == Int32(EAI_NONAME) ? "the host name is unknown" : String(cString: uv_strerror(status))
            throw GRPCStatus(.unavailable, "cannot reach \(address): \(reason)")
        }
        return channel
    }

    private func open(_ address: PeerAddress, completion: @escaping (Int32) -> Void) {
        let target = address.resolve(passive: false) { entry -> sockaddr_storage? in
            var storage = sockaddr_storage()
            memcpy(&storage, entry.pointee.ai_addr, Int(entry.pointee.ai_addrlen))
            return storage
        }
        guard var target else {
            completion(Int32(EAI_NONAME))
            return
        }
        let attempt = ConnectAttempt(loop: loop) { [self] socket, status in
            if status == 0 {
                self.socket = SocketConnection(loop: loop, socket: socket, speaker: connection) { [self] _ in
                    self.socket = nil
                }
            }
            completion(status)
        }
        attempt.start(&target)
    }

    /// Ends the connection once calls under way are done.
    public func close() {
        loop.run { [self] in
            socket?.shutDown()
        }
    }

    public func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        try await Task(executorPreference: loop) { [self] in
            try await connection.unary(method, request, options: options) as Output
        }.value
    }

    public func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        try await Task(executorPreference: loop) { [self] in
            try await connection.serverStreaming(method, request, options: options, receive: receive)
        }.value
    }
}

/// A socket on its way to be connected.
private final class ConnectAttempt {
    private let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
    private let socket = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    private let completion: (UnsafeMutablePointer<uv_tcp_t>, Int32) -> Void

    init(loop: EventLoop, completion: @escaping (UnsafeMutablePointer<uv_tcp_t>, Int32) -> Void) {
        self.completion = completion
        uv_tcp_init(loop.uv, socket)
    }

    deinit {
        request.deallocate()
    }

    func start(_ address: inout sockaddr_storage) {
        // Released when the attempt has an outcome.
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                uv_tcp_connect(request, socket, address) { request, status in
                    guard let context = request?.pointee.data else { return }
                    Unmanaged<ConnectAttempt>.fromOpaque(context).takeRetainedValue().finish(status)
                }
            }
        }
        if status != 0 { Unmanaged.passUnretained(self).takeRetainedValue().finish(status) }
    }

    private func finish(_ status: Int32) {
        if status != 0 {
            uv_close(UnsafeMutableRawPointer(socket).assumingMemoryBound(to: uv_handle_t.self)) { handle in
                UnsafeMutableRawPointer(handle)?.assumingMemoryBound(to: uv_tcp_t.self).deallocate()
            }
        }
        completion(socket, status)
    }
}

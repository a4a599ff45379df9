import Basics
import Dispatch
import HTTPTypes
import Proto
import RPC
import Synchronization
import TestSupport
import Wire
import WireTesting

/// A REST method whose response is a source's bytes, for any transport, and the results of its calls.
final class SourceMethod: Interceptor {
    /// The size of the messages that the method sends if the transport cannot send a source.
    static let piece = 16 << 10

    let record = SourceRecord()
    private let statuses = Lock<[StatusCode]>([])
    private let ended = DispatchSemaphore(value: 0)

    /// Makes a server of the method.
    func server(_ plan: TestSource.Plan) throws -> RPCServer {
        var router = Router()
        router.add(BodiesMethods.stream) { [record] (_: StreamRequest, responses, context) in
            context.responseLength = plan.announced.map { Int64($0) }
            let source = try TestSource(plan, record)
            let contentType = "application/octet-stream"
            if try await context.send(source, as: contentType) { return }
            while true {
                let piece = try [UInt8](unsafeUninitializedCapacity: Self.piece) { buffer, count in
                    count = try source.read(into: UnsafeMutableRawBufferPointer(buffer), passesFiles: false).count
                }
                if piece.isEmpty { return }
                try await responses.write(HttpBody(contentType: contentType, data: piece))
            }
        }
        router.add(routes: TestFiles.routes)
        let json = JSONMapping(schema: try Schema(ProtoFiles.all + TestFiles.all))
        var limits = RPCLimits()
        // Disabled, because with other tests running a client may have to wait minutes for a thread.
        limits.lifecycle.stall = .hours(1)
        return RPCServer(router: router, interceptors: [self], limits: limits, web: WebProtocols(json: json))
    }

    func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {
        statuses.withLock { $0.append(status) }
        ended.signal()
    }

    /// The results of all calls that have ended.
    var ends: [StatusCode] { statuses.withLock { $0 } }

    /// Waits until a call has ended.
    func waitForStatus() throws { try ended.waitForSignal() }

    /// Waits until a call has ended, and then for the release of its source.
    func waitForEnd() throws {
        try waitForStatus()
        try record.waitForRelease()
    }
}

extension [UInt8] {
    /// Whether these are the first bytes of a test's source.
    var areOfSource: Bool {
        withUnsafeBytes { bytes in
            for index in bytes.indices where bytes[index] != TestSource.byte(at: index) { return false }
            return true
        }
    }
}

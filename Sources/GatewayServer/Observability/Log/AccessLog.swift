package import Basics
import Crypto
package import HTTPServer
import HTTPTypes
package import RPC
package import Wire

/// Logs a line for each call of a listener, with the request id that the client receives.
package struct AccessLog: Interceptor {
    /// The listener's name.
    private let listener: String
    private let log: ProcessLog

    package init(listener: String, log: ProcessLog) {
        self.listener = listener
        self.log = log
    }

    package func received(_ context: CallContext) {
        context.announcesRequestID = true
    }

    package func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {
        let level = error?.isCallersFault == true ? .info : Self.level(status, context.method)
        guard log.keepsAccess(level) else { return }
        log.write(level, "call") { line in
            line.add("listener", listener)
            context.describeRequest(in: &line)
            line.add("code", status.name)
            line.add("detail", error?.detail?.rawValue)
            if level >= .warning { line.add("error", error?.explanation) }
            line.add("peer") { context.peer.write(to: &$0) }
            context.identity?.describe(in: &line)
            line.add("duration_ms", nanoseconds: context.traffic.duration)
            line.add("bytes_in", Int64(context.traffic.bytesReceived))
            line.add("bytes_out", Int64(context.traffic.bytesSent))
            line.add(context.trace)
        }
    }

    package func refused(_ request: RefusedRequest) {
        guard log.keepsAccess(.info) else { return }
        log.write(.info, "a request was not a call") { line in
            line.add("listener", listener)
            if let requestID = request.requestID { line.add("request_id") { requestID.write(to: &$0) } }
            line.add("path", request.path)
            line.add("reason", request.reason.rawValue)
            line.add("peer") { request.peer.write(to: &$0) }
        }
    }

    /// Successful calls of health probes are logged at `debug`, because they would outnumber everything else.
    private static func level(_ status: StatusCode, _ method: MethodDescriptor) -> LogLevel {
        switch status {
        case .internalError, .unknown, .dataLoss: .error
        case .unavailable: .warning
        case .ok where method.service.hasPrefix("grpc."): .debug
        default: .info
        }
    }
}

/// Logs a line for each HTTP request of a listener that is not a call.
package struct HTTPAccessLog: HTTPObserver {
    /// The listener's name.
    private let listener: String
    /// The level of successful requests.
    private let successLevel: LogLevel
    private let log: ProcessLog

    package init(listener: String, log: ProcessLog, successLevel: LogLevel = .info) {
        self.listener = listener
        self.log = log
        self.successLevel = successLevel
    }

    package func ended(_ request: HTTPRequestRecord) {
        guard !request.notes.isCall else { return }
        let level = level(request.status)
        guard log.keepsAccess(level) else { return }
        log.write(level, "request") { line in
            line.add("listener", listener)
            line.add("request_id", request.requestID)
            line.add("method", request.method)
            line.add("path", request.path)
            line.add("dialect", request.notes.dialect)
            line.add("operation", request.notes.operation)
            line.add("status", request.status.map(Int64.init))
            if !request.isWhole { line.add("broken_off", "true") }
            line.add("peer", request.peer)
            line.add("principal", request.notes.principal)
            line.add("target", request.notes.target)
            line.add("source", request.notes.source)
            line.add("duration_ms", nanoseconds: UInt64(clamping: request.duration.nanoseconds))
            line.add("bytes_in", request.bytesReceived)
            line.add("bytes_out", request.bytesSent)
            line.add(request.trace)
        }
    }

    private func level(_ status: Int?) -> LogLevel {
        switch status {
        case 503: .warning
        // The client requested an operation that does not exist.
        case 501: .info
        case .some(500...): .error
        case .some(..<400): successLevel
        default: .info
        }
    }
}

extension LogLine {
    fileprivate mutating func add(_ trace: TraceContext?) {
        guard let trace else { return }
        add("trace_id", trace.traceID)
        add("span_id", trace.spanID)
        add("parent_span_id", trace.parentID)
    }
}

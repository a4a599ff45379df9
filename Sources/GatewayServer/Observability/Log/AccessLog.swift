import Accounts
import Crypto
import HTTPServer
import RPC
import Wire

/// A line for each call of a listener, and for each request that is none; the client is told what the line calls it.
package struct AccessLog: Interceptor {
    private static let idField = "x-request-id"

    /// The listener's name.
    private let listener: String

    package init(listener: String) {
        self.listener = listener
    }

    package func admit(_ context: CallContext) {
        context.responseMetadata.append(name: Self.idField, value: context.requestID)
    }

    package func finished(_ context: CallContext, status: StatusCode, error: (any Error)?) {
        let isCallersFault = (error as? RPCError)?.isCallersFault == true
        let level = isCallersFault ? .info : Self.level(status, context.method)
        guard Log.wantsAccess(level) else { return }
        var line = LogLine(level, "call")
        line.add("listener", listener)
        line.add("request_id", context.requestID)
        line.add("method", context.method.path)
        line.add("code", status.name)
        if let refusal = error as? RPCError {
            line.add("detail", refusal.detail?.rawValue)
        } else if status == .internalError, let error {
            // The client is told no more than INTERNAL.
            line.add("error", "\(error)")
        }
        line.add("peer", context.peer.description)
        if let principal = context.principal {
            line.add("principal", principal.name)
            line.add("organization_id", principal.organizationID)
            line.add("site_id", principal.siteID)
        }
        line.add("duration_ms", nanoseconds: context.traffic.duration)
        line.add("bytes_in", Int64(context.traffic.bytesReceived))
        line.add("bytes_out", Int64(context.traffic.bytesSent))
        line.add(context.trace)
        Log.write(line)
    }

    package func refused(_ request: RefusedRequest) {
        guard Log.wantsAccess(.info) else { return }
        var line = LogLine(.info, "a request was not a call")
        line.add("listener", listener)
        line.add("request_id", request.requestID)
        line.add("path", request.path)
        line.add("reason", request.reason.rawValue)
        line.add("peer", request.peer.description)
        Log.write(line)
    }

    /// Probes would drown everything else.
    private static func level(_ status: StatusCode, _ method: MethodDescriptor) -> LogLevel {
        switch status {
        case .internalError, .unknown, .dataLoss: .error
        case .unavailable: .warning
        case .ok where method.service.hasPrefix("grpc."): .debug
        default: .info
        }
    }
}

/// A line for each HTTP request of a listener that is no call.
package struct HTTPAccessLog: HTTPObserver {
    /// The listener's name.
    private let listener: String
    /// The level of requests that went well.
    private let successLevel: LogLevel

    package init(listener: String, successLevel: LogLevel = .info) {
        self.listener = listener
        self.successLevel = successLevel
    }

    package func ended(_ request: HTTPRequestRecord) {
        guard !request.notes.isCall else { return }
        let level = level(request.status)
        guard Log.wantsAccess(level) else { return }
        var line = LogLine(level, "request")
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
        line.add("duration_ms", nanoseconds: UInt64(clamping: request.duration.nanoseconds))
        line.add("bytes_in", request.bytesReceived)
        line.add("bytes_out", request.bytesSent)
        line.add(request.trace)
        Log.write(line)
    }

    private func level(_ status: Int?) -> LogLevel {
        switch status {
        case 503: .warning
        // The client asked for what there is not.
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

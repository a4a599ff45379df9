import RPC
import Wire

/// Logs each call that failed on our side: the client is told no more than INTERNAL.
struct FailureLog: Interceptor {
    func finished(_ context: CallContext, status: StatusCode, error: (any Error)?) {
        guard status == .internalError, let error, !(error is RPCError) else { return }
        Log.write(
            "call failed",
            ["method": context.method.path, "peer": context.peer.description, "error": "\(error)"])
    }
}

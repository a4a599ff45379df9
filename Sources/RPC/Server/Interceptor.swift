package import GRPCWire
package import Protobuf

/// Observes every call of a server. Runs on the call's event loop, where it must not wait.
package protocol Interceptor: Sendable {
    /// Called when the request's header section is complete, before the call waits for its turn.
    func received(_ context: CallContext)

    /// Called once for each call of a registered method, when its status is known.
    ///
    /// - Parameter error: the error sent to the client; its ``RPCError/cause`` is the error thrown by the handler. `nil` if the
    ///   call succeeded, or its client disconnected.
    func finished(_ context: CallContext, status: StatusCode, error: RPCError?)

    /// Called for each request that is not a call.
    func refused(_ request: RefusedRequest)
}

extension Interceptor {
    package func received(_ context: CallContext) {}

    package func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {}

    package func refused(_ request: RefusedRequest) {}
}

/// The interceptor that decides which calls a server accepts. It is the first step of a call's turn, and may wait, for example for the
/// database.
package protocol Admission: Interceptor {
    /// Whether calls of the method have to be admitted; everybody may call the others. Asked once for each method of a server.
    func isNeeded(for method: MethodDescriptor) -> Bool

    /// Sets the caller's ``CallContext/identity`` and ``CallContext/workOwner``.
    ///
    /// - Throws: to refuse the call; then its handler is not started.
    nonisolated(nonsending) func admit(_ context: CallContext) async throws(RPCError)
}

extension Admission {
    package func isNeeded(for method: MethodDescriptor) -> Bool { true }
}

import Wire

/// Observes every call of a server before its handler and after its end. Runs on the call's event loop, so it must not wait.
package protocol Interceptor: Sendable {
    /// Called when the request's header section is complete, before its messages are read.
    ///
    /// - Throws: to refuse the call; then its handler is not started.
    func admit(_ context: CallContext) throws(RPCError)

    /// Called once for each call of a registered method, when its status is known.
    ///
    /// - Parameter error: the error sent to the client; its ``RPCError/cause`` is the error thrown by the handler. `nil` if the
    ///   call succeeded, or its client disconnected.
    func finished(_ context: CallContext, status: StatusCode, error: RPCError?)

    /// Called for each request that is not a call.
    func refused(_ request: RefusedRequest)
}

extension Interceptor {
    package func admit(_ context: CallContext) throws(RPCError) {}

    package func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {}

    package func refused(_ request: RefusedRequest) {}
}

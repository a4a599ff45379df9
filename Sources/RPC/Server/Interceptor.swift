import Wire

/// Sees every call of a server before its handler and after its end. Runs on the call's event loop, so it never waits.
package protocol Interceptor: Sendable {
    /// Called when the request's header has come, before any of its messages is read.
    ///
    /// - Throws: to refuse the call; its handler is not started.
    func admit(_ context: CallContext) throws(RPCError)

    /// Called once for each call that has a method here, when its status is known.
    ///
    /// - Parameter error: what the client was told; its ``RPCError/cause`` is what the handler threw. `nil` where the call
    ///   succeeded, and where its client left.
    func finished(_ context: CallContext, status: StatusCode, error: RPCError?)

    /// Called for each request that is no call.
    func refused(_ request: RefusedRequest)
}

extension Interceptor {
    package func admit(_ context: CallContext) throws(RPCError) {}

    package func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {}

    package func refused(_ request: RefusedRequest) {}
}

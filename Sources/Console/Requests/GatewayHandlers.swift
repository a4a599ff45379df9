package import HTTPTypes
package import ThreadCalls

/// The parts of the gateway that the console uses.
package struct GatewayHandlers: Sendable {
    /// Handles the browsers' calls, as the web listener does.
    let calls: any HTTPRequestHandler
    /// Handles the console's own calls of the same methods.
    let local: LocalCalls
    /// The object store's handler, which reads objects for previews.
    let store: any HTTPRequestHandler

    package init(calls: any HTTPRequestHandler, local: LocalCalls, store: any HTTPRequestHandler) {
        self.calls = calls
        self.local = local
        self.store = store
    }
}

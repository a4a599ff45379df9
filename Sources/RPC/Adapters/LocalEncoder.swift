import Basics
import Synchronization

/// Writes the response to a caller within the process: messages with prefixes, and the unchanged error.
package final class LocalEncoder: ResponseEncoder, Sendable {
    private let error = Lock<RPCError?>(nil)

    package init() {}

    /// The error of the failed call; valid when the response is complete.
    package var failure: RPCError? { error.withLock { $0 } }

    package func message(_ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        ResponsePart(body: frame)
    }

    package func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        ResponsePart(end: .body)
    }

    package func failure(
        _ error: RPCError, _ context: CallContext, _ state: inout ResponseState
    ) -> ResponsePart {
        refuse(error)
    }

    func refuse(_ error: RPCError) -> ResponsePart {
        self.error.withLock { $0 = error }
        return ResponsePart(end: .body)
    }
}

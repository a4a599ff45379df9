import Basics
import GatewayAPI
import RPC

/// The parameters of a list of received requests.
struct InboxQuery: Sendable {
    private static let longestWait: Int32 = 50

    /// Whether only requests that were never delivered are listed.
    let onlyNew: Bool
    /// The position of the last request that the app has; 0 = none.
    let position: Int64
    /// The longest time to wait for a request while the inbox is empty.
    let wait: Duration

    /// - Parameters:
    ///   - status: empty, or `pending`.
    ///   - cursor: the cursor of an earlier list; empty = none.
    ///   - wait: in seconds, 0 to 50.
    ///   - scope: the owner of the cursor.
    init(status: String, cursor: String, wait: Int32, tokens: PageTokens, scope: String) throws(RPCError) {
        guard status.isEmpty || status == StatusRequestState.pending.rawValue else {
            throw .invalid("status", "must be pending, or omitted for all requests that are not answered")
        }
        guard (0...Self.longestWait).contains(wait) else {
            throw .invalid("wait", "must be 0 to \(Self.longestWait) seconds")
        }
        var position: Int64 = 0
        if !cursor.isEmpty {
            guard let text = tokens.open(cursor, scope: scope), let number = Int64(text) else {
                throw .invalid("after", "must be a cursor of this inbox")
            }
            position = number
        }
        // An app that names what it has may have missed a later response, so delivered requests are listed again.
        onlyNew = !status.isEmpty && cursor.isEmpty
        self.position = position
        self.wait = .seconds(Int64(wait))
    }
}

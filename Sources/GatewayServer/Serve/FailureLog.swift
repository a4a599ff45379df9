import Foundation
import RPC
import Wire

/// Writes a line to standard error for each call that failed on our side: the client is told no more than INTERNAL.
struct FailureLog: Interceptor {
    private struct Line: Encodable {
        let event = "call failed"
        let method: String
        let peer: String
        let error: String
    }

    func finished(_ context: CallContext, status: StatusCode, error: (any Error)?) {
        guard status == .internalError, let error, !(error is RPCError) else { return }
        let line = Line(method: context.method.path, peer: context.peer.description, error: "\(error)")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(line) else { return }
        FileHandle.standardError.write(text + Data([0x0A]))
    }
}

package import RPC

/// Returns the error that `body` throws; `nil` if it succeeds.
package func refusal(_ body: () async throws -> Void) async -> RPCError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? RPCError ?? (error as? any RPCErrorConvertible)?.rpcError
    }
}

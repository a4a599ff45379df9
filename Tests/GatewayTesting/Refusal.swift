import RPC

/// The refusal that `body` ends with; `nil` when it does not.
package func refusal(_ body: () async throws -> Void) async -> RPCError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? RPCError ?? (error as? any RPCErrorConvertible)?.rpcError
    }
}

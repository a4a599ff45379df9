/// A write that waits for its turn and its commit.
protocol PendingWrite: Sendable {
    /// Whether it is accepted while the disk is full and the ``DiskReserve`` released.
    var mayUseReserve: Bool { get }

    /// Runs the body; its result is kept until ``finish(_:)``. May be called again if the first run was rolled back.
    func run(on connection: Connection) throws

    /// Runs the effects that the body requested for its commit.
    func takeEffect()

    /// Passes the result to the caller: that of the body, or `failure` if the commit failed.
    func finish(_ failure: (any Error)?)
}

/// `@unchecked Sendable`: the submitting thread only creates it; afterwards only the writer's thread uses it.
final class Write<Value: Sendable>: PendingWrite, @unchecked Sendable {  // handed to the writer's thread whole
    let mayUseReserve: Bool
    private let body: @Sendable (Connection) throws -> Value
    private let reply: @Sendable (Result<Value, any Error>) -> Void
    private var result: Result<Value, any Error> = .failure(DatabaseError.closed)
    private var effects: [@Sendable () -> Void] = []

    init(
        mayUseReserve: Bool, _ body: @escaping @Sendable (Connection) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.mayUseReserve = mayUseReserve
        self.body = body
        self.reply = reply
    }

    func run(on connection: Connection) throws {
        // Drops the effects of an earlier write that failed.
        _ = connection.takeEffects()
        effects = []
        result = Result { try connection.requiringStatements { try body(connection) } }
        _ = try result.get()
        effects = connection.takeEffects()
    }

    func takeEffect() {
        for effect in effects { effect() }
        effects = []
    }

    func finish(_ failure: (any Error)?) {
        reply(failure.map { .failure($0) } ?? result)
    }
}

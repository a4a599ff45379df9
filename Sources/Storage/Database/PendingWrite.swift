/// A write that waits for its turn, and for the commit that makes it true.
protocol PendingWrite: Sendable {
    /// Whether it is taken while the disk is full and the ``DiskReserve`` released.
    var mayUseReserve: Bool { get }

    /// Runs the body; what came of it is kept until ``answer(_:)``. May be called again when the first run was undone.
    func run(on connection: Connection) throws

    /// Runs what the body asked to follow from its commit.
    func takeEffect()

    /// Tells whoever waits: what the body returned or threw, or `failure` when that came to nothing.
    func answer(_ failure: (any Error)?)
}

/// `@unchecked Sendable`: the submitting thread only creates it; after that the writer's thread alone touches it.
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
        // Those of a write before this one that failed.
        _ = connection.takeEffects()
        effects = []
        result = Result { try body(connection) }
        _ = try result.get()
        effects = connection.takeEffects()
    }

    func takeEffect() {
        for effect in effects { effect() }
        effects = []
    }

    func answer(_ failure: (any Error)?) {
        reply(failure.map { .failure($0) } ?? result)
    }
}

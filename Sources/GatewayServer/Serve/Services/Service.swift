/// A part of the program that works from its start to its stop.
protocol Service: Sendable {
    /// What messages call it, e.g. `web listener`.
    var name: String { get }

    /// Returns once the service works.
    ///
    /// - Parameter ended: told, at most once, where the service ends by itself because of an error.
    /// - Throws: where it cannot start; nothing of it is left then.
    func start(_ ended: @escaping @Sendable (any Error) -> Void) async throws

    /// Returns once nothing of the service is left. Called once, after a start that succeeded.
    func stop() async
}

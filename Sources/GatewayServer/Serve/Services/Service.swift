/// A part of the program that works from its start to its stop.
protocol Service: Sendable {
    /// The name in messages, e.g. `web listener`.
    var name: String { get }

    /// Returns once the service works.
    ///
    /// - Parameter ended: called at most once, if the service ends because of an error.
    /// - Throws: if it cannot start; nothing of it stays open then.
    func start(_ ended: @escaping @Sendable (any Error) -> Void) async throws

    /// Returns once everything of the service is closed. Called once, after a successful start.
    func stop() async
}

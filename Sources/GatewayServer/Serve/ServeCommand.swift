import Foundation

/// `data-gateway serve`: runs the gateway until a signal ends it.
enum ServeCommand {
    /// - Returns: the exit code: 0 after an orderly end, 1 when it cannot start.
    static func run(_ options: ServeOptions) async -> Int32 {
        let signals = TerminationSignals()
        do {
            let configuration = try Configuration(options)
            let gateway = try await Gateway(configuration, dataDirectory: options.dataDirectory)
            announce(gateway.listeners)
            await signals.first()
            signals.exitAtNext()
            await gateway.stop()
            return 0
        } catch {
            FileHandle.standardError.write(Data("data-gateway: \(error)\n".utf8))
            return 1
        }
    }

    /// The one line on standard output that scripts wait for: every listener accepts.
    private static func announce(_ listeners: [(name: String, address: String)]) {
        let members = listeners.map { "\"\($0.name)\":\"\($0.address)\"" }.joined(separator: ",")
        FileHandle.standardOutput.write(Data("{\"event\":\"ready\",\"listeners\":{\(members)}}\n".utf8))
    }
}

extension CommandEnvironment {
    /// Prints what `command` answers, or why it does not.
    package func report(asJSON: Bool, _ command: () async throws -> Reply) async -> ExitCode {
        await attempt {
            let reply = try await command()
            try output(asJSON ? reply.json.text : reply.text)
        }
    }

    /// Says why `command` does not come to its end.
    package func attempt(_ command: () async throws -> Void) async -> ExitCode {
        do {
            try await command()
            return .success
        } catch let failure as ClientFailure where failure == .readerLeft {
            return .success
        } catch {
            let failure = error as? ClientFailure ?? ClientFailure("\(error)")
            errorOutput("data-gateway: \(TextLayout.printable(failure.message))")
            return failure.exitCode
        }
    }
}

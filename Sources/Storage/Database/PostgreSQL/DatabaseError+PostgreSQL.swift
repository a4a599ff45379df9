extension DatabaseError {
    /// The error for a SQLSTATE (postgresql.org/docs/15/errcodes-appendix.html).
    ///
    /// - Parameter message: the server's, which names the violated constraint.
    init(state: String, message: String) {
        self =
            switch (state.prefix(2), state) {
            case (_, "23505"): .constraint(.unique, message: message)
            case (_, "23503"): .constraint(.foreignKey, message: message)
            case ("23", _): .constraint(.other, message: message)
            case (_, "53100"): .full
            // Of arguments whose number is not that of the parameters.
            case (_, "08P01"): .misuse(message)
            // Out of memory or connections; the connection failed; the server ends; it ended the session.
            case ("53", _), ("08", _), (_, "57P01"), (_, "57P02"), (_, "57P03"), (_, "57P05"), (_, "25P03"), (_, ""):
                .unavailable(message)
            // A lock or a statement took too long; transactions that cannot run at the same time.
            case (_, "55P03"), (_, "57014"), (_, "40P01"), (_, "40001"): .locked
            case (_, "25P02"): .rolledBack
            case (_, "22021"), (_, "22P05"): .misuse(message)
            default: .server(state: state, message: message)
            }
    }
}

extension PostgresResult {
    /// Whether the server closes the connection behind this error.
    var endsConnection: Bool {
        guard let state, state != "08P01" else { return false }
        return state.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(state)
    }
}

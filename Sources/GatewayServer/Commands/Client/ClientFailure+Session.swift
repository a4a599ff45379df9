import CommandLineInterface

extension ClientFailure {
    static let notSignedIn = ClientFailure("you are not signed in: run data-gateway login --user NAME")

    static func ended(_ session: SignedInSession) -> ClientFailure {
        ClientFailure("the session of \(session.userName) ended: run data-gateway login --user \(session.userName)")
    }
}

extension Optional {
    /// What a reply must hold.
    ///
    /// - Parameter name: the field.
    func present(_ name: String) throws(ClientFailure) -> Wrapped {
        guard let self else { throw ClientFailure("the gateway's reply has no \(name)") }
        return self
    }
}

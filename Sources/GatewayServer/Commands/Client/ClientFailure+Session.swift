import CommandLineInterface

extension ClientFailure {
    static let notSignedIn = ClientFailure("you are not signed in: run data-gateway login --user NAME")

    static func ended(_ session: SignedInSession) -> ClientFailure {
        let organization = session.organization == "system" ? "" : " --organization \(session.organization)"
        return ClientFailure(
            "the session of \(session.userName) ended: run data-gateway login --user \(session.userName)\(organization)"
        )
    }
}

extension Optional {
    /// Returns the value of a required field.
    ///
    /// - Parameter name: the field, for the message.
    func present(_ name: String) throws(ClientFailure) -> Wrapped {
        guard let self else { throw ClientFailure("the gateway's reply has no \(name)") }
        return self
    }
}

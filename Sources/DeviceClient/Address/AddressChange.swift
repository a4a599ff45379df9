import EventLoops
package import GatewayFormats
import Proto
import Wire

/// Changes the address of the gateway of an initialized device, as a person asked for it.
package struct AddressChange: Sendable {
    private let folder: DeviceFolder
    private let endpoints: Endpoints
    private let proof: AddressProof
    private let auth: GatewayChannel

    /// - Parameter authorities: PEM; `nil` = the system's trusted authorities.
    package init(_ folder: DeviceFolder, endpoints: Endpoints, authorities: String?) throws {
        self.folder = folder
        self.endpoints = endpoints
        let loop = EventLoop(name: "device")
        let authorities = try endpoints.authorities(authorities)
        auth = GatewayChannel(to: endpoints.auth, authorities: authorities, loop: loop)
        proof = AddressProof(endpoints, authorities: authorities, loop: loop)
    }

    /// Exchanges the device's key at the new address, makes a call with the token there, and only then stores the address.
    ///
    /// - Throws: `CallFailure` of the call that failed, `WrongListener`, `DeviceFolder.Failure`.
    package func run() async throws {
        let reply = try await DeviceKey(folder).trying { [auth, endpoints] credential in
            try await WrongListener.recognizing(endpoints.auth, AuthServiceMethods.service) {
                try await AuthServiceClient(auth).exchangeCredential(ExchangeCredentialRequest(credential: credential))
            }
        }
        try await proof.run(token: reply.accessToken)
        try folder.move(to: endpoints)
    }
}

import EventLoops
import Proto
import Sockets
import Wire

/// The proof that the listeners at new endpoints are the gateway's: they accept a device's token.
struct AddressProof: Sendable {
    private let gateway: GatewayChannel
    private let others: [GatewayChannel]

    init(_ endpoints: Endpoints, authorities: TLSAuthorities?, loop: EventLoop) {
        gateway = GatewayChannel(to: endpoints.gateway, authorities: authorities, loop: loop)
        others = [endpoints.auth, endpoints.deviceInit].map { endpoint in
            GatewayChannel(to: endpoint, authorities: authorities, loop: loop)
        }
    }

    /// - Throws: `CallFailure` of the call that failed.
    func run(token: String) async throws {
        do {
            _ = try await DataGatewayServiceClient(gateway).getUploadRecovery(
                GetUploadRecoveryRequest(logicalUploadID: "00000000-0000-0000-0000-000000000000"),
                options: CallOptions(metadata: [("authorization", "Bearer \(token)")]))
        } catch let failure as CallFailure where failure.isOfUnknownUpload {
            // Only a gateway that accepts the token looks for the upload.
        }
        for other in others {
            let _: HealthCheckResponse = try await other.unary(
                HealthMethods.check, HealthCheckRequest(), options: CallOptions())
        }
    }
}

import RPC
import TestSupport
import Testing
import Wire

@testable import GatewayFormats

/// The detail codes of errors that the server itself generates.
@Suite(.timeLimited) struct ErrorPolicyTests {
    private func details(_ service: String) -> [DetailCode?] {
        let method = MethodDescriptor(service: service, name: "Call", kind: .unary)
        return [ErrorPolicy.Condition.invalidRequest, .overloaded, .internalError].map {
            ErrorPolicy.gateway.detail($0, method)
        }
    }

    @Test func authServiceHasCodesOfItsOwn() {
        #expect(details("archebase.auth.v1.AuthService") == [.invalidArgument, nil, .authInternalError])
    }

    @Test func otherServicesHaveTheGatewaysCodes() {
        let codes: [DetailCode?] = [.invalidArgument, .overloaded, .internalError]
        #expect(details("archebase.data_gateway.v1.DataGatewayService") == codes)
    }

    @Test func internalErrorsOfForeignServicesHaveNoCode() {
        #expect(details("grpc.health.v1.Health") == [.invalidArgument, .overloaded, nil])
    }
}

import Configuration
import Settings
import TestSupport
import Testing

@testable import Serve

@Suite(.timeLimited) struct ConnectionPlanTests {
    private static let http = [
        ConnectionPlan.HTTPListener(connections: 256, descriptors: 3),
        ConnectionPlan.HTTPListener(connections: 256, descriptors: 2),
    ]

    private func plan(descriptors: Int, grpc: Int = 10_000) throws -> ConnectionPlan {
        try ConnectionPlan(descriptors: descriptors, loops: 4, http: Self.http, grpcListeners: 4, grpc: grpc)
    }

    @Test func planThatFitsStaysAsItIs() throws {
        let plan = try plan(descriptors: 524_288)
        #expect(!plan.isLowered)
        #expect(plan.grpc == 10_000)
        #expect(plan.http == Self.http)
    }

    @Test(arguments: [432, 512, 1024, 4096, 20_000])
    func allTogetherStayBelowTheLimit(descriptors: Int) throws {
        let plan = try plan(descriptors: descriptors)
        #expect(plan.isLowered)
        let open = 4 * plan.grpc + plan.http.reduce(0) { $0 + $1.connections * $1.descriptors }
        #expect(open <= descriptors - 256 - 4 * 12)
        #expect(plan.grpc >= 16)
        #expect(plan.http.allSatisfy { $0.connections >= 8 })
    }

    @Test func tooFewDescriptorsAreRefused() {
        let error = #expect(throws: ConfigurationError.self) { try plan(descriptors: 431) }
        #expect(error?.description.contains("at least 432") == true)
    }
}

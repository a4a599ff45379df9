import Basics
import Database
import GRPCWire
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Accounts

@Suite(.timeLimited) struct KeyRotationTests {
    /// A gateway whose only device was asked to replace its key.
    private struct RotationRequest {
        let world: TestAccounts
        let credential: String

        init(_ configure: (inout AccountsConfiguration) -> Void = { _ in }) async throws {
            let world = try await TestAccounts(configure)
            let admin = try await world.login().accessToken
            _ = try await world.createSite(token: admin)
            let key = try await world.adminService.createOrRotateDeviceApiKey(
                CreateOrRotateDeviceApiKeyRequest(deviceID: OneDevice.id),
                context: world.call(AdminAuthServiceMethods.createOrRotateDeviceApiKey, token: admin))
            let (keys, now) = (world.accounts.deviceKeys, world.clock.now())
            let counts = try await world.database.write { connection in
                try keys.requestRotation(of: [OneDevice.id, "260427-000002"], at: now, in: connection)
            }
            #expect(counts == KeyRotationCounts(devices: 1, unaware: 1))
            (self.world, credential) = (world, key.credential)
        }

        func rotate(_ credential: String) async throws -> String {
            try await world.accounts.authService.rotateCredential(
                RotateCredentialRequest(credential: credential),
                context: try world.call(AuthServiceMethods.rotateCredential)
            ).credential
        }

        /// Whether a token opens uploads.
        func accepts(_ token: String) throws -> Bool {
            do {
                return try world.call(DataGatewayServiceMethods.createLogicalUpload, token: token).keyOwner.siteID == 1
            } catch let error as RPCError where error.status == .unauthenticated {
                return false
            }
        }
    }

    @Test func firstUseOfTheNewKeyEndsTheOldOne() async throws {
        let request = try await RotationRequest()
        let old = try await request.world.exchange(request.credential).accessToken
        let next = try await request.rotate(request.credential)
        #expect(try request.accepts(old))
        let fresh = try await request.world.exchange(next).accessToken
        #expect(try request.accepts(old) == false)
        #expect(try request.accepts(fresh))
        #expect(
            await refusal { _ = try await request.world.exchange(request.credential) }?.detail == .authInvalidCredential
        )
        #expect(try request.world.audit().filter { $0.contains(" RotateCredential ") }.count == 1)
    }

    @Test func concurrentFirstUsesAllGetTokensOfTheNewKey() async throws {
        let request = try await RotationRequest()
        let next = try await request.rotate(request.credential)
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try await request.world.exchange(next).accessToken } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(tokens.count == 8)
        #expect(try tokens.allSatisfy(request.accepts))
        #expect(try request.world.audit().filter { $0.contains(" RotateCredential ") }.count == 1)
    }

    @Test func wrongSecretsOfBothCallsCountTogether() async throws {
        let request = try await RotationRequest { $0.wrongCredentialsOfKey = 2 }
        let id = OpaqueToken(.apiKey, text: request.credential)?.id ?? ""
        let wrong = OpaqueToken(.apiKey, id: id).text
        #expect(await refusal { _ = try await request.rotate(wrong) }?.detail == .authInvalidCredential)
        #expect(await refusal { _ = try await request.world.exchange(wrong) }?.detail == .authInvalidCredential)
        #expect(await refusal { _ = try await request.rotate(wrong) }?.status == .unavailable)
        #expect(await refusal { _ = try await request.world.exchange(wrong) }?.status == .unavailable)
        _ = try await request.world.exchange(try await request.rotate(request.credential))
    }
}

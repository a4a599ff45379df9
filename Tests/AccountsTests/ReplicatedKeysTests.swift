import Basics
import Crypto
import Database
import DatabaseTesting
import Foundation
import GRPCWire
import GatewayAPI
import GatewayTesting
import HTTPTypes
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Accounts

/// The signing keys and the revocations of two gateways that have a database in common.
@Suite(.timeLimited) struct ReplicatedKeysTests {
    private static let upload = DataGatewayServiceMethods.createLogicalUpload

    private let first: TestAccounts
    private let second: TestAccounts
    private let admin: String

    init() async throws {
        first = try await TestAccounts(hasReplicas: true)
        second = try TestAccounts(replicaOf: first)
        admin = try await first.login().accessToken
        _ = try await first.createSite(token: admin)
    }

    private func rotate(at world: TestAccounts) async throws -> String {
        try await world.accounts.identityManagementService.rotateSigningKey(
            RotateSigningKeyRequest(),
            context: world.call(IdentityManagementServiceMethods.rotateSigningKey, token: admin)
        ).keyID
    }

    private func isAccepted(_ token: String, at world: TestAccounts) throws -> Bool {
        do {
            _ = try world.call(Self.upload, token: token)
            return true
        } catch let error as RPCError where error.status == .unauthenticated {
            return false
        }
    }

    private func signer(of token: String) throws -> String? {
        let text = try #require(token.split(separator: ".").first)
        let header = try #require(Base64.decodeURL(text))
        guard case .text(let id)? = FlatJSON.decode(header)?["kid"] else { return nil }
        return id
    }

    /// Issues a token in each second of a rotation and of the time in which the tokens of the previous key end.
    @Test func tokensOfOneGatewayAreAcceptedByTheOtherThroughARotation() async throws {
        let key = try await first.createKey(site: 1, token: admin)
        let previous = try signer(of: admin)
        let next = try await rotate(at: first)
        var issued: [(token: String, at: Int)] = []
        for second in 0..<1200 {
            let token = try await first.exchange(key.credential).accessToken
            #expect(try signer(of: token) == (second < 120 ? previous : next))
            issued.append((token, second))
            // Each gateway reads the keys once a minute.
            if second % 60 == 59 { _ = try await self.second.accounts.tidy(nil) }
            for index in [issued.count - 1, max(0, issued.count - 899)] {
                let isAccepted = try isAccepted(issued[index].token, at: self.second)
                #expect(isAccepted, "second \(second), a token of second \(issued[index].at)")
            }
            first.clock.advance(seconds: 1)
        }
        // The first gateway published the new key when it made it, the second one within a minute, before it signed.
        #expect(second.accounts.publicKeys.contains(next))
    }

    @Test func unknownKeyIsReadAtOnce() async throws {
        let key = try await first.createKey(site: 1, token: admin)
        let next = try await rotate(at: first)
        first.clock.advance(seconds: 120)
        let token = try await first.exchange(key.credential).accessToken
        #expect(try signer(of: token) == next)
        #expect(!second.accounts.publicKeys.contains(next))
        let context = CallContext(
            method: Self.upload, metadata: Metadata([(name: "authorization", value: "Bearer \(token)")]))
        try await second.accounts.authenticator.admit(context)
        #expect(second.accounts.publicKeys.contains(next))
    }

    @Test func tokensOfUnknownKeysCauseAReadASecond() async throws {
        let updates = try #require(second.accounts.keyUpdates)
        let now = first.clock.now()
        let claims = AccessToken(kind: .apiKey, subject: "k", epoch: 1, expiresAt: now.adding(seconds: 900))
        let foreign = TokenSigner(keys: SigningKeys([SigningKey(ES256Key())])).issue(claims, at: now)
        var reads = 0
        for _ in 0..<10_000 where await updates.read(for: foreign, at: now) { reads += 1 }
        #expect(reads == 1)
        #expect(await updates.read(for: foreign, at: now.adding(seconds: 1)))
        // Neither other texts nor tokens of known keys cause one.
        for text in ["", "a.b.c", admin, foreign.replacingOccurrences(of: ".", with: "!")] {
            #expect(await !updates.read(for: text, at: now.adding(seconds: 60)))
        }
    }

    @Test func disabledKeyIsRefusedByTheOtherGatewayOnTheNextCall() async throws {
        let key = try await first.createKey(site: 1, token: admin)
        let id = try #require(key.apiKey?.apiKeyID)
        var accepted = (before: 0, after: 0)
        for _ in 0..<1000 {
            let token = try await first.exchange(key.credential).accessToken
            if try isAccepted(token, at: second) { accepted.before += 1 }
            _ = try await first.adminService.disableApiKey(
                DisableApiKeyRequest(apiKeyID: id),
                context: first.call(AdminAuthServiceMethods.disableApiKey, token: admin))
            if try isAccepted(token, at: second) { accepted.after += 1 }
            _ = try await first.adminService.enableApiKey(
                EnableApiKeyRequest(apiKeyID: id),
                context: first.call(AdminAuthServiceMethods.enableApiKey, token: admin))
        }
        #expect(accepted == (1000, 0))
    }

    /// A file is always refused by a program that lacks a migration.
    @Test(.onPostgres) func rotationRefusesProgramsWithoutTheRows() async throws {
        func isExpanding() throws -> Bool? {
            try first.database.readBlocking { connection in
                try connection.first(
                    "SELECT lowest_migration FROM migrations WHERE name = $1",
                    SigningKeyRecords<Connection>.migration.name
                ) { !$0.isNull("lowest_migration") && $0.text("lowest_migration").isEmpty }
            }
        }
        // The migration records this in a schema with tables.
        _ = try first.database.writeBlocking {
            try $0.execute(
                "UPDATE migrations SET lowest_migration = '' WHERE name = $1",
                SigningKeyRecords<Connection>.migration.name)
        }
        #expect(try isExpanding() == true)
        _ = try await rotate(at: first)
        #expect(try isExpanding() == false)
    }

    @Test func gatewaysThatStartTogetherHaveOneKey() throws {
        #expect(first.accounts.publicKeys == second.accounts.publicKeys)
        let rows = try first.database.readBlocking { try SigningKeyRecords($0).all() }
        #expect(rows.count == 1)
    }
}

import Accounts
import Basics
import Database
import Foundation
import GatewayTesting

@testable import Webhooks

/// An outbox over a real database, in memory if possible, with two webhooks.
final class Scene: Sendable {
    let clock = ManualClock()
    private let base: TestDatabase

    init(isShared: Bool = false) throws {
        base = try TestDatabase(Accounts.migrations + Webhooks.migrations, isShared: isShared)
    }

    var database: Database { base.database }
    var calls: CallCounter { base.calls }

    /// - Returns: the event's id.
    @discardableResult
    func happens(
        to subject: String, for webhooks: [String] = ["a"], organization: Int64 = 1, payload: String = "{}"
    ) throws -> String {
        let id = "\(subject) \(UUID())"
        let event = Event(.deviceInitialized, subject: subject, organizationID: organization, data: ["x": 1])
        let now = clock.now()
        try database.writeBlocking {
            try EventRecords($0).insert(event, id: id, organization: "acme", payload: payload, for: webhooks, at: now)
        }
        return id
    }

    func due(_ webhook: String = "a") throws -> [Delivery] {
        try found(webhook).deliveries
    }

    func found(_ webhook: String = "a") throws -> DueDeliveries {
        let turns = OrganizationTurns(slots: 100, isShared: false)
        return try database.readBlocking {
            try EventRecords($0).due(for: webhook, at: clock.now(), turns: turns, limit: 100)
        }
    }

    func record(_ delivery: Delivery, _ outcome: DeliveryOutcome, for webhook: String = "a") throws {
        let now = clock.now()
        let result = DeliveryResult(delivery: delivery, webhook: webhook, outcome: outcome, time: now)
        try database.writeBlocking { try EventRecords($0).record(result) }
    }

    func letters(webhook: String = "") throws -> [DeadLetterRecord] {
        try database.readBlocking {
            try EventRecords($0).deadLetters(scope: nil, webhook: webhook, after: "", limit: PageLimit(rows: 100)).rows
        }
    }

    func count(_ table: String) throws -> Int {
        try database.readBlocking { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0 }
    }
}

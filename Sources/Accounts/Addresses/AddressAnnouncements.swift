package import Basics
import Crypto
import Database
import GatewayAPI
package import Proto
import Protobuf
import RPC

/// The announcements of new addresses to an organization's devices, for the device registry.
package struct AddressAnnouncements: Sendable {
    /// An announcement with the number of devices that took it.
    package struct State: Sendable {
        /// `nil` before the first announcement, and after it was withdrawn.
        package let announcement: AddressAnnouncement?
        package let announcedAt: UnixTime?
        package let counts: AddressCounts
    }

    let database: Database
    let clock: any WallClock

    /// Replaces the organization's announcement by one with the next serial number.
    ///
    /// - Parameters:
    ///   - announcement: its serial number is ignored.
    package func announce(_ announcement: AddressAnnouncement, by caller: Caller) async throws -> State {
        let now = clock.now()
        try await database.write { connection in
            let records = AddressRecords(connection)
            var numbered = announcement
            numbered.serial = (try records.find(organizationID: caller.organization.id)?.serial ?? 0) + 1
            try records.replace(
                AddressRecord(
                    serial: numbered.serial, message: numbered.encoded(),
                    endsAt: UnixTime(seconds: numbered.endsAtUnix), isWithdrawn: false, announcedAt: now),
                organizationID: caller.organization.id)
            try Audit.record(caller.did(to: "deviceAddresses/\(numbered.serial)"), at: now, in: connection)
        }
        return try await state(for: caller)
    }

    package func withdraw(by caller: Caller) async throws -> State {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            let records = AddressRecords(connection)
            if let found = try records.find(organizationID: caller.organization.id), !found.isWithdrawn {
                try records.withdraw(organizationID: caller.organization.id)
                try Audit.record(caller.did(to: "deviceAddresses/\(found.serial)"), at: now, in: connection)
            }
        }
        return try await state(for: caller)
    }

    /// Reads the announcement, and counts all of the organization's devices with a key.
    package func state(for caller: Caller) async throws -> State {
        try await database.readInBackground { try Self.state(of: caller, in: $0) }
    }

    private static func state(of caller: Caller, in connection: ReadConnection) throws -> State {
        let records = AddressRecords(connection)
        let found = try records.find(organizationID: caller.organization.id)
        let announcement = try found.flatMap { $0.isWithdrawn ? nil : try AddressAnnouncement(decoding: $0.message) }
        return State(
            announcement: announcement, announcedAt: announcement == nil ? nil : found?.announcedAt,
            counts: try records.counts(
                organizationID: caller.organization.id, serial: announcement?.serial ?? -1))
    }
}

import AppSupport
import Basics
import Capability
import Database

/// The removal of data whose time is over, once a minute.
struct ShareCodeSweep: Sendable {
    let database: Database
    let estimates: ShareCodeEstimates

    var all: [Sweep] {
        [
            Sweep("share_code_data", run: eraseCodes), Sweep("share_codes", run: deleteCodes),
            Sweep("umids", run: deleteUmids), Sweep("status_request_data", run: eraseRequests),
            Sweep("status_requests", run: deleteRequests),
        ]
    }

    /// Erases the data of codes after their end.
    private func eraseCodes(_ permit: DeletionPermit) async throws -> Int {
        let now = try permit.now()
        // A write would commit although it removes nothing.
        guard try await database.read({ try ShareCodeRecords($0).hasEnded(at: now) }) else { return 0 }
        return try await inBatches { try ShareCodeRecords($0).eraseEnded(at: permit.now()) }
    }

    /// Removes the rows of codes 30 days after their end, and counts the others.
    private func deleteCodes(_ permit: DeletionPermit) async throws -> Int {
        let now = try permit.now()
        let (live, umids) = try await database.readInBackground {
            (try ShareCodeRecords($0).liveCount(at: now), try UmidRecords($0).count())
        }
        estimates.live.set(live)
        estimates.umids.set(umids)
        // A code becomes free a day after its end.
        let age = ShareCodePeriod.retention - ShareCodePeriod.reservation
        let limit = now.subtracting(age)
        guard try await database.read({ try ShareCodeRecords($0).hasFree(before: limit) }) else { return 0 }
        return try await inBatches {
            try ShareCodeRecords($0).deleteFree(before: permit.now().subtracting(age), permit)
        }
    }

    /// Removes umids whose tokens have not been used for a long time.
    private func deleteUmids(_ permit: DeletionPermit) async throws -> Int {
        let limit = try permit.now().subtracting(UmidClaims.retention)
        guard try await database.read({ try UmidRecords($0).hasUnused(before: limit) }) else { return 0 }
        return try await inBatches {
            try UmidRecords($0).deleteUnused(before: permit.now().subtracting(UmidClaims.retention), permit)
        }
    }

    /// Erases the contents of requests after their end.
    private func eraseRequests(_ permit: DeletionPermit) async throws -> Int {
        let now = try permit.now()
        guard try await database.read({ try StatusRequestRecords($0).hasEnded(at: now) }) else { return 0 }
        return try await inBatches { try StatusRequestRecords($0).eraseEnded(at: permit.now()) }
    }

    /// Removes the rows of requests 30 days after their end, and counts the others.
    private func deleteRequests(_ permit: DeletionPermit) async throws -> Int {
        estimates.requests.set(try await database.readInBackground { try StatusRequestRecords($0).count() })
        let limit = try permit.now().subtracting(StatusRequest.retention)
        guard try await database.read({ try StatusRequestRecords($0).hasEnded(before: limit) }) else { return 0 }
        return try await inBatches {
            try StatusRequestRecords($0).deleteEnded(
                before: permit.now().subtracting(StatusRequest.retention), permit)
        }
    }

    private func inBatches(_ body: @escaping @Sendable (Connection) throws -> Int) async throws -> Int {
        var (sum, count) = (0, 1)
        while count > 0 {
            try Task.checkCancellation()
            count = try await database.write(mayUseReserve: true, body)
            sum += count
        }
        return sum
    }
}

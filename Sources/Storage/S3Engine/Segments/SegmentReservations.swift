import Basics
import Database
import ObjectStore

/// Schedules the removal of segments before they are stored: the transaction that gives them rows cancels it.
struct SegmentReservations: Sendable {
    let database: Database
    let open: OpenSegments
    /// The time until which no other gateway removes them; `nil` without other gateways.
    let until: UnixTime?

    /// - Returns: the reservations in the order of the segments; this process removes none before the end of its reservation.
    func reserve(_ segmentIDs: [String], mayUseReserve: Bool = false) throws -> [OpenSegments.Reading] {
        let reserved = try segmentIDs.map { try open.reserve([$0]) }
        try database.writeBlocking(mayUseReserve: mayUseReserve) { [until] in
            try StoreRecords($0).scheduleRemoval(segmentIDs, notBefore: until)
        }
        return reserved
    }
}

extension S3Engine {
    var reservations: SegmentReservations {
        get throws { SegmentReservations(database: try database, open: open, until: try reservedUntil) }
    }
}

import Basics
import Database
import RPC

/// The state of the gateway for the app's test of its connection.
struct ShareCodeHealth: Sendable {
    let database: Database
    let clock: any WallClock
    let state: ServingState

    /// Whether calls are accepted: not while the gateway stops, and not after its database failed.
    var isAvailable: Bool { state.isServing && database.isWritable }

    /// The current time.
    var now: UnixTime { clock.now() }
}

package import Basics
import Synchronization

/// The clock for signatures: the machine's, until a server reports that it is wrong.
///
/// A device's clock may show any time after a flat battery, and signatures contain the time.
package final class ServerClock: WallClock {
    private let machine: any WallClock
    /// The microseconds by which the server is ahead.
    private let lead = Lock<Int64>(0)

    package init(_ machine: any WallClock) { self.machine = machine }

    package func now() -> UnixTime { machine.now().adding(microseconds: lead.withLock { $0 }) }

    /// Adjusts the clock to `time`; whole seconds are exact enough.
    package func adopt(_ time: UnixTime) {
        let now = machine.now()
        lead.withLock { $0 = time.microseconds - now.microseconds }
    }
}

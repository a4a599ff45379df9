import Basics

/// The time as a server has it: the machine's, until a server says that it is wrong.
///
/// A robot's clock may be anything after a flat battery, and what is signed carries its time.
package final class ServerClock: WallClock {
    private let machine: any WallClock
    /// Microseconds that the server is ahead.
    private let lead = Lock<Int64>(0)

    package init(_ machine: any WallClock) { self.machine = machine }

    package func now() -> UnixTime { machine.now().adding(microseconds: lead.withLock { $0 }) }

    /// From now on it is as late as `time` says; whole seconds are near enough.
    package func adopt(_ time: UnixTime) {
        let now = machine.now()
        lead.withLock { $0 = time.microseconds - now.microseconds }
    }
}

import Basics
import RPC

/// The gateway's state as a process, which its services change and the operations on it read.
struct ProcessState: Sendable {
    let serving = ServingState()
    /// Notified when the process has to end and start again.
    let restart = Signal()
}

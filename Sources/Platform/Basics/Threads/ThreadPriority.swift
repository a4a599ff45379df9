import Glibc

/// The priority of the calling thread, with which the kernel divides the processors.
package enum ThreadPriority {
    /// Lowers the priority of the calling thread, and of threads that it creates afterwards. Without effect where the system refuses it.
    ///
    /// - Parameter niceness: from 0 (that of other threads) to 19 (lowest): a thread gets about a third of the time of one with 5 less.
    package static func lower(to niceness: Int32) {
        // On Linux the call concerns the calling thread only.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, max(niceness, current))
    }

    /// The niceness of the calling thread.
    package static var current: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
}

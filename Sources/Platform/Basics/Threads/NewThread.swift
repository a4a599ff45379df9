import CLinux
import Glibc

/// The start of threads; all threads but those of Dispatch and of libraries begin here.
enum NewThread {
    /// The work of a thread with its name, for the pointer that it is started with.
    private final class Start {
        let name: String
        let work: @Sendable () -> Void

        init(_ name: String, _ work: @escaping @Sendable () -> Void) {
            self.name = name
            self.work = work
        }
    }

    /// Starts a detached thread.
    ///
    /// - Parameter stackSize: in bytes, a multiple of the page size; `nil` = the system's.
    /// - Returns: whether the system has a thread.
    static func start(_ name: String, stackSize: Int?, _ work: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(name, work))
        let problem = pthread_create(
            &thread, &attributes,
            { pointer in
                guard let pointer else { return nil }
                let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
                linux_set_thread_name(start.name)
                start.work()
                return nil
            }, start.toOpaque())
        if problem != 0 { start.release() }
        return problem == 0
    }
}

import CLinux
import Dispatch
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

    /// Takes the work for which the system has no thread: it runs as soon as one of the pool's threads is free. Callers wait for it,
    /// and the end of the process would end the requests of everybody else.
    private static let reserve = DispatchQueue(label: "threads", attributes: .concurrent)

    /// Starts a detached thread; if the system refuses it, the work runs on a thread of Dispatch's pool.
    ///
    /// - Parameter stackSize: in bytes, a multiple of the page size; `nil` = the system's.
    static func start(_ name: String, stackSize: Int?, _ work: @escaping @Sendable () -> Void) {
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
        guard problem != 0 else { return }
        start.release()
        reserve.async(execute: work)
    }
}

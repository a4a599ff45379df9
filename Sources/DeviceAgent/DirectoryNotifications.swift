import Dispatch

/// The kernel's notifications about directories, with a function that is called when there are some. Used by one actor.
final class DirectoryNotifications {
    private let watch: DirectoryWatch
    private let source: any DispatchSourceRead
    /// Signaled when the notifications have been read. Until then, nothing is called because of them: while the agent is busy, it
    /// would be called again and again.
    private let haveBeenRead = DispatchSemaphore(value: 0)

    /// - Parameter notify: called on another thread, and not again before ``markRead()``.
    init(_ notify: @escaping @Sendable () -> Void) throws(DirectoryWatch.Failure) {
        watch = try DirectoryWatch()
        source = DispatchSource.makeReadSource(
            fileDescriptor: watch.descriptor, queue: DispatchQueue(label: "notifications"))
        source.setEventHandler { [haveBeenRead] in
            notify()
            haveBeenRead.wait()
        }
        source.resume()
    }

    /// Watches a directory; see ``DirectoryWatch/add(_:)``.
    func add(_ path: String) throws(DirectoryWatch.Failure) { try watch.add(path) }

    /// Returns all changes since the previous call.
    func changes() -> Set<DirectoryWatch.Change> { watch.changes() }

    func markRead() { haveBeenRead.signal() }

    /// Ends the notifications.
    func cancel() {
        source.cancel()
        haveBeenRead.signal()
    }
}

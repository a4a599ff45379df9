/// Takes the results of writes, to store something with them in the same transaction.
///
/// A class: Swift 6.3's optimizer passes no type to the runtime for a task-local function in a generic function that it specializes, and
/// the program ends (`swift_task_localValuePush`).
package final class WriteObserver: Sendable {
    /// The observer of the writes that the task begins.
    @TaskLocal package static var current: WriteObserver?

    /// Called at the end of each write, with the write's result and in its transaction. It throws to refuse the write.
    package let note: @Sendable (_ result: any Sendable, Connection) throws -> Void

    package init(_ note: @escaping @Sendable (_ result: any Sendable, Connection) throws -> Void) {
        self.note = note
    }
}

/// The results of writes, for those who store something with them in the same transaction.
package enum WriteResult {
    /// Called at the end of each write that the task begins, with the write's result and in its transaction. It throws to refuse the
    /// write.
    @TaskLocal package static var observer: (@Sendable (any Sendable, Connection) throws -> Void)?
}

package import RPC

/// The response messages of a call within the process. Used by one thread.
package protocol LocalMessages: AnyObject {
    /// Waits for the next message; `nil` at the end of a call that succeeded.
    ///
    /// - Throws: the call's error.
    func next() throws(RPCError) -> [UInt8]?

    /// Ends the messages; cancels a call in progress.
    func close()
}

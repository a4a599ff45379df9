import RPC

/// The messages with which a call within the process is answered. Used by one thread.
package protocol LocalMessages: AnyObject {
    /// Waits for the next message; `nil` at the end of a call that succeeded.
    ///
    /// - Throws: why the call failed.
    func next() throws(RPCError) -> [UInt8]?

    /// Ends the messages: a call under way is cancelled.
    func close()
}

/// Receives the bytes of one body, in order. Used by one thread at a time.
protocol BodySink: AnyObject, Sendable {
    /// Receives ``AlignedBlock/size`` bytes in memory that is aligned for direct writes.
    func append(block: UnsafeRawBufferPointer) throws
    /// Receives the end of the body, which fills no block. No block follows.
    func append(end: UnsafeRawBufferPointer) throws
    /// Makes the bytes durable. Nothing follows; a failure is final.
    func finish() throws
}

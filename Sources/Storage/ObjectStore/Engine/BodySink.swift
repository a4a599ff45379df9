/// Takes the bytes of one body, in their order. Used by one thread at a time.
protocol BodySink: AnyObject, Sendable {
    /// Takes ``AlignedBlock/size`` bytes in memory that is aligned for direct writing.
    func append(block: UnsafeRawBufferPointer) throws
    /// Takes the end of the body, which fills no block. No block follows.
    func append(end: UnsafeRawBufferPointer) throws
    /// Makes durable what was taken. Nothing follows; a failure is final.
    func finish() throws
}

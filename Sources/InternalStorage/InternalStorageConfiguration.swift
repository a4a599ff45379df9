/// What programs of the gateway's own surroundings may ask of it.
public struct InternalStorageConfiguration: Sendable {
    /// Bytes that one ReadObject answers at most, whatever its `max_bytes`.
    public var maximumReadBytes: Int64 = 4 << 20

    public init() {}
}

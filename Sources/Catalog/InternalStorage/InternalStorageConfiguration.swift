/// What programs of the gateway's own surroundings may ask of it.
package struct InternalStorageConfiguration: Sendable {
    /// Bytes that one ReadObject answers at most, whatever its `max_bytes`.
    package var maximumReadBytes: Int64 = 4 << 20

    package init() {}
}

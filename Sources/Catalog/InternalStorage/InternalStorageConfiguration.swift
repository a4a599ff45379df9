/// The limits of InternalStorageService.
package struct InternalStorageConfiguration: Sendable {
    /// The largest number of bytes in one response to ReadObject, whatever its `max_bytes`.
    package var maximumReadBytes: Int64 = 4 << 20

    package init() {}
}

/// The limits of InternalStorageService.
package struct InternalStorageConfiguration: Sendable {
    /// The largest number of bytes in one response to ReadObject, whatever its `max_bytes`.
    package var maximumReadBytes: Int64 = 4 << 20
    /// The PEM file of authorities whose certificates replace a token at the internal listener; `nil` = none.
    package var clientAuthorities: String?

    package init() {}
}

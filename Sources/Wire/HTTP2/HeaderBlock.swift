import CNghttp2

/// Header fields in nghttp2's form.
///
/// A block for many messages is made once and kept for the life of the process; nghttp2 then reads it in place instead of copying
/// it.
public final class HeaderBlock: Sendable {
    /// Never changed after `init`, and freed by `deinit` only.
    nonisolated(unsafe) let fields: UnsafeMutableBufferPointer<nghttp2_nv>  // only read
    /// The memory behind `fields`, with the same lifetime.
    private nonisolated(unsafe) let bytes: UnsafeMutablePointer<UInt8>  // only read
    private let isPermanent: Bool

    /// - Parameter pairs: names in lower case; pseudo-header fields first.
    public convenience init(_ pairs: [(name: String, value: [UInt8])]) {
        self.init(pairs, isPermanent: false)
    }

    /// Makes a block that is never freed.
    public convenience init(permanent pairs: [(name: String, value: String)]) {
        self.init(pairs.map { ($0.name, Array($0.value.utf8)) }, isPermanent: true)
        _ = Unmanaged.passRetained(self)
    }

    private init(_ pairs: [(name: String, value: [UInt8])], isPermanent: Bool) {
        self.isPermanent = isPermanent
        let total = pairs.reduce(0) { $0 + $1.name.utf8.count + $1.value.count }
        bytes = .allocate(capacity: max(1, total))
        fields = .allocate(capacity: pairs.count)
        let flags =
            isPermanent ? NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue : 0
        var cursor = bytes
        for (index, pair) in pairs.enumerated() {
            let name = cursor
            for byte in pair.name.utf8 {
                cursor.initialize(to: byte)
                cursor += 1
            }
            let value = cursor
            for byte in pair.value {
                cursor.initialize(to: byte)
                cursor += 1
            }
            fields.initializeElement(
                at: index,
                to: nghttp2_nv(
                    name: name, value: value, namelen: pair.name.utf8.count, valuelen: pair.value.count,
                    flags: UInt8(truncatingIfNeeded: flags)))
        }
    }

    deinit {
        fields.deallocate()
        bytes.deallocate()
    }
}

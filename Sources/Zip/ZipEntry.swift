import Basics

/// A file in an archive.
package struct ZipEntry: Sendable, Hashable {
    package enum Method: UInt16, Sendable, Hashable, CaseIterable {
        case stored = 0
        case deflated = 8
    }

    /// A relative path, with `/` between its components.
    package let name: String
    package let method: Method
    /// The length in the archive, in bytes.
    package let compressedSize: Int64
    /// The uncompressed length, in bytes.
    package let size: Int64
    package let crc32: UInt32
    /// The offset of the local header in the archive.
    let offset: Int64

    /// Whether a name can be unpacked below a directory on every common system, and nowhere else: 1 to 255 bytes, no empty
    /// component, no component `.` or `..`, no backslash, colon or control character.
    package static func isValid(name: String) -> Bool {
        guard (1...ZipLimits.nameBytes).contains(name.utf8.count) else { return false }
        guard !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0 == "\u{7F}" || $0 == "\\" || $0 == ":" })
        else {
            return false
        }
        return name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
        }
    }
}

/// Signatures and numbers of the format (APPNOTE 6.3.10).
enum ZipFormat {
    static let localHeader: UInt32 = 0x0403_4B50
    static let descriptor: UInt32 = 0x0807_4B50
    static let directoryHeader: UInt32 = 0x0201_4B50
    static let zip64EndRecord: UInt32 = 0x0606_4B50
    static let zip64EndLocator: UInt32 = 0x0706_4B50
    static let endRecord: UInt32 = 0x0605_4B50

    static let localHeaderBytes = 30
    static let directoryHeaderBytes = 46
    static let zip64EndRecordBytes = 56
    static let zip64EndLocatorBytes = 20
    static let endRecordBytes = 22

    /// Identifiers of extra fields.
    static let zip64Extra: UInt16 = 0x0001
    static let timestampExtra: UInt16 = 0x5455

    /// Flags, section 4.4.4.
    static let encrypted: UInt16 = 1 << 0
    static let hasDescriptor: UInt16 = 1 << 3
    static let patched: UInt16 = 1 << 5
    static let stronglyEncrypted: UInt16 = 1 << 6
    static let isUTF8: UInt16 = 1 << 11
    static let maskedDirectory: UInt16 = 1 << 13

    /// The markers of 16-bit and 32-bit fields whose value is in a zip64 record.
    static let in64: (count: UInt16, size: UInt32) = (.max, .max)
    /// The versions needed to extract deflated entries and zip64 archives, and the system of the files' modes: Unix.
    static let version: (plain: UInt16, zip64: UInt16, unix: UInt16) = (20, 45, 3 << 8)
}

/// The limits for reading an archive.
package struct ZipLimits: Sendable, Hashable {
    /// The number of entries, including directories.
    package var entries = 100_000
    /// The size of the central directory, which is held in memory, in bytes.
    package var directoryBytes: Int64 = 32 << 20
    /// The uncompressed size of all entries together, in bytes.
    package var totalBytes: Int64 = 64 << 30
    /// The uncompressed size of an entry divided by its compressed size, for entries above 64 KiB.
    package var ratio: Int64 = 200

    package init() {}

    /// The size up to which the ratio of an entry is not checked, in bytes.
    static let uncheckedRatioBytes: Int64 = 64 << 10
    /// The longest name of an entry, in bytes of UTF-8.
    package static let nameBytes = 255
}

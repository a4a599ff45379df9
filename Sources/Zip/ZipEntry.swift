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

    /// The value of a 16-bit and of a 32-bit field whose number is in a zip64 record.
    static let in64: (count: UInt16, size: UInt32) = (.max, .max)
    /// The versions that are needed to extract deflated entries and zip64 archives, and the system that files' modes are of: Unix.
    static let version: (plain: UInt16, zip64: UInt16, unix: UInt16) = (20, 45, 3 << 8)
}

/// A format of pictures, recognized by the first bytes: neither a name nor a declared type is believed.
package enum PictureFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg
    case png
    case webp
    case heic

    /// Recognizes the format; `nil` for everything else.
    package init?(_ bytes: [UInt8]) {
        func has(_ text: String, at offset: Int) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: PNGMetadata.signature) {
            self = .png
        } else if has("RIFF", at: 0), has("WEBP", at: 8) {
            self = .webp
        } else if has("ftyp", at: 4) {
            // A length of 1 is followed by one of eight bytes (ISO/IEC 14496-12, section 4.2).
            let brand = bytes.starts(with: [0, 0, 0, 1]) ? 16 : 8
            guard ["heic", "heix", "heim", "heis", "mif1"].contains(where: { has($0, at: brand) }) else { return nil }
            self = .heic
        } else {
            return nil
        }
    }

    package var contentType: String { "image/\(rawValue)" }

    /// The extension of file names, without a dot.
    package var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}

/// A picture as it may be shown to others: it has no data about where and when it was taken, and nothing behind its end.
package struct Picture: Sendable, Hashable {
    /// The largest number of pixels. A phone needs four bytes for each, and a small file can claim any number.
    package static let mostPixels = 64_000_000

    /// The largest number of segments or chunks. Each costs time, and pictures have some hundreds.
    static let mostParts = 10_000

    package let format: PictureFormat
    package let bytes: [UInt8]

    /// Recognizes a picture and removes its metadata. The image itself is not decoded.
    ///
    /// - Parameter bytes: at most as many as the caller accepts.
    package init(_ bytes: [UInt8]) throws(PictureError) {
        guard let format = PictureFormat(bytes) else { throw .format }
        self.format = format
        self.bytes =
            switch format {
            case .jpeg: try JPEGMetadata.removed(from: bytes)
            case .png: try PNGMetadata.removed(from: bytes)
            case .webp: try WebPMetadata.removed(from: bytes)
            case .heic: try HEICMetadata.removed(from: bytes)
            }
    }

    static func checkSize(width: Int, height: Int) throws(PictureError) {
        // Sides of up to 32 bits, so the product does not overflow.
        guard width > 0, height > 0, width <= mostPixels, height <= mostPixels, width * height <= mostPixels else {
            throw .size
        }
    }
}

/// The reason why bytes are not an acceptable picture. The description is for the person who sent them.
package enum PictureError: Error, Sendable, Hashable, CustomStringConvertible {
    case format
    case malformed(PictureFormat)
    case size
    /// The metadata of a HEIC picture cannot be removed.
    case metadata

    package var description: String {
        switch self {
        case .format: "the picture must be JPEG, PNG, WebP or HEIC"
        case .malformed(let format): "the picture is not a complete \(format.rawValue) file"
        case .size: "the picture must have at most \(Picture.mostPixels / 1_000_000) million pixels"
        case .metadata:
            "data about where the picture was taken cannot be removed from this kind of HEIC file: send it as JPEG"
        }
    }
}

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

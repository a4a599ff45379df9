/// Detection of an object's media type from the client's declaration, the file name and the first bytes.
package enum ContentType {
    /// The media type of content that nothing is known about.
    package static let unknown = "application/octet-stream"
    /// The number of bytes that ``byContent(_:)`` examines.
    package static let headLength = 512

    /// Returns the declared type, else the one that belongs to the name, else ``unknown``.
    ///
    /// - Parameter declared: the Content-Type that came with the bytes.
    package static func detect(declared: String?, fileName: FileName?) -> String {
        if let declared, isTelling(declared) { return declared }
        return fileName.flatMap(byName) ?? unknown
    }

    /// Returns the usual type of files with this extension; `nil` for an unknown extension.
    package static func byName(_ name: FileName) -> String? { byExtension[name.fileExtension] }

    /// Whether a declared type is well-formed and is not a default that clients send when they know nothing.
    private static func isTelling(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" }.lowercased()
        return (3...127).contains(type.utf8.count) && type.utf8.allSatisfy(\.isASCIIPrintable)
            && name.split(separator: "/", omittingEmptySubsequences: false).filter { !$0.isEmpty }.count == 2
            && ![unknown, "binary/octet-stream", "application/x-www-form-urlencoded"].contains(name)
    }

    /// Returns the type of content that begins with these bytes; `nil` if no known signature matches.
    ///
    /// - Parameter head: ``headLength`` bytes, or fewer where the content is shorter.
    package static func byContent(_ head: [UInt8]) -> String? {
        for (offset, magic, type) in magics where head.count >= offset + magic.count {
            if head[offset..<offset + magic.count].elementsEqual(magic) { return type }
        }
        return nil
    }

    /// Signatures: bytes at an offset that only files of the type have.
    private static let magics: [(offset: Int, magic: [UInt8], type: String)] = [
        (0, [0x89] + Array("MCAP0\r\n".utf8), "application/x-mcap"),
        (0, Array("#ROSBAG V".utf8), "application/x-rosbag"),
        (0, [0x89] + Array("PNG\r\n".utf8), "image/png"),
        (0, [0xFF, 0xD8, 0xFF], "image/jpeg"),
        (0, Array("GIF8".utf8), "image/gif"),
        (8, Array("WEBP".utf8), "image/webp"),
        (8, Array("AVI ".utf8), "video/x-msvideo"),
        (8, Array("WAVE".utf8), "audio/wav"),
        (4, Array("ftypheic".utf8), "image/heic"),
        (4, Array("ftypqt".utf8), "video/quicktime"),
        (4, Array("ftyp".utf8), "video/mp4"),
        (0, [0x1A, 0x45, 0xDF, 0xA3], "video/x-matroska"),
        (0, Array("OggS".utf8), "audio/ogg"),
        (0, Array("fLaC".utf8), "audio/flac"),
        (0, Array("%PDF-".utf8), "application/pdf"),
        (0, Array("SQLite format 3\0".utf8), "application/vnd.sqlite3"),
        (0, Array("PAR1".utf8), "application/vnd.apache.parquet"),
        (0, [0x89] + Array("HDF\r\n".utf8), "application/x-hdf5"),
        (0, [0x0A, 0x0D, 0x0D, 0x0A], "application/x-pcapng"),
        (0, [0xD4, 0xC3, 0xB2, 0xA1], "application/vnd.tcpdump.pcap"),
        (0, Array("PK\u{3}\u{4}".utf8), "application/zip"),
        (0, [0x1F, 0x8B], "application/gzip"),
        (0, [0x28, 0xB5, 0x2F, 0xFD], "application/zstd"),
        (0, [0xFD] + Array("7zXZ\0".utf8), "application/x-xz"),
        (0, Array("BZh".utf8), "application/x-bzip2"),
        (0, Array("7z".utf8) + [0xBC, 0xAF, 0x27, 0x1C], "application/x-7z-compressed"),
        (257, Array("ustar".utf8), "application/x-tar"),
    ]

    private static let byExtension: [String: String] = [
        "mcap": "application/x-mcap", "bag": "application/x-rosbag", "db3": "application/vnd.sqlite3",
        "json": "application/json", "jsonl": "application/x-ndjson", "ndjson": "application/x-ndjson",
        "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml", "xml": "application/xml",
        "txt": "text/plain", "log": "text/plain", "md": "text/markdown", "csv": "text/csv",
        "tsv": "text/tab-separated-values", "html": "text/html", "htm": "text/html", "svg": "image/svg+xml",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "heic": "image/heic", "tif": "image/tiff", "tiff": "image/tiff", "bmp": "image/bmp",
        "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "mkv": "video/x-matroska",
        "webm": "video/webm", "avi": "video/x-msvideo", "h264": "video/h264", "h265": "video/h265",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "wav": "audio/wav", "flac": "audio/flac", "ogg": "audio/ogg",
        "pdf": "application/pdf", "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip",
        "zst": "application/zstd", "xz": "application/x-xz", "bz2": "application/x-bzip2",
        "7z": "application/x-7z-compressed", "tar": "application/x-tar", "parquet": "application/vnd.apache.parquet",
        "arrow": "application/vnd.apache.arrow.file", "h5": "application/x-hdf5", "hdf5": "application/x-hdf5",
        "npy": "application/x-npy", "npz": "application/x-npz", "pcd": "application/x-pcd", "ply": "application/x-ply",
        "las": "application/vnd.las", "laz": "application/vnd.laszip", "pcap": "application/vnd.tcpdump.pcap",
        "pcapng": "application/x-pcapng", "sqlite": "application/vnd.sqlite3", "db": "application/vnd.sqlite3",
        "proto": "text/plain", "urdf": "application/xml", "usdz": "model/vnd.usdz+zip", "glb": "model/gltf-binary",
    ]
}

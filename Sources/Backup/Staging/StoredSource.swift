import Basics

/// Writes what is read from an archive to a file.
final class StoredSource: ArchiveSource {
    /// The number of bytes after which the free space is checked again.
    private static let interval: Int64 = 64 << 20

    private(set) var count: Int64 = 0
    private let source: any ArchiveSource
    private let sink: FileSink
    private let folder: String
    private let minimumFreeBytes: Int64
    private var checkAt: Int64 = 0

    /// - Parameters:
    ///   - descriptor: that of the file, which remains the caller's.
    ///   - folder: a folder on the same disk.
    ///   - minimumFreeBytes: the bytes that must stay free on the disk.
    init(_ source: any ArchiveSource, to descriptor: Int32, in folder: String, minimumFreeBytes: Int64) {
        self.source = source
        sink = FileSink(descriptor)
        self.folder = folder
        self.minimumFreeBytes = minimumFreeBytes
    }

    func read(_ count: Int) throws -> [UInt8] {
        if self.count >= checkAt {
            checkAt = self.count + Self.interval
            if let free = DiskSpace.available(at: folder), free < minimumFreeBytes + Self.interval {
                throw DataDirectory.Problem(
                    description: "the disk of the data directory has too little free space for the archive")
            }
        }
        let bytes = try source.read(count)
        try sink.write(bytes)
        self.count += Int64(bytes.count)
        return bytes
    }
}

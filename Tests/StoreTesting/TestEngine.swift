import Crypto
package import DirectoryEngine
import EngineCopy
import Foundation
package import ObjectStore
import S3Engine
package import Testing

/// The engine of the stores in tests: `STORE_ENGINE=memory`, `delayed`, `s3` or `paired` in the environment replaces the directory.
package enum TestEngine: String, Sendable {
    case directory
    case memory
    case delayed
    case s3
    /// A directory, and a bucket to which its objects can be copied.
    case paired

    package static let current: TestEngine? =
        TestEngine(rawValue: ProcessInfo.processInfo.environment["STORE_ENGINE"] ?? directory.rawValue)

    package static func make(
        _ directory: String, _ files: DirectoryConfiguration = DirectoryConfiguration()
    ) throws -> any ObjectEngine {
        guard let current else {
            preconditionFailure("STORE_ENGINE is directory, memory, delayed, s3 or paired")
        }
        return try make(directory, current, files)
    }

    package static func make(
        _ directory: String, _ kind: Self, _ files: DirectoryConfiguration = DirectoryConfiguration()
    ) throws -> any ObjectEngine {
        switch kind {
        case .directory: try DirectoryEngine(path: directory, configuration: files)
        case .memory: MemoryEngine()
        case .delayed: DelayedEngine()
        case .s3: try TestBucket.makeEngine(spoolFolder: NSTemporaryDirectory())
        case .paired:
            try PairedEngines(
                DirectoryEngine(path: directory, configuration: files),
                TestBucket.makeEngine(spoolFolder: NSTemporaryDirectory()), target: .s3)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that look at files of the directory, or make its calls fail.
    package static var onDirectory: Self {
        .enabled(if: TestEngine.current == .directory, "the store has another engine")
    }
}

extension ObjectStore {
    /// The engine of a store in a directory.
    package var data: DirectoryEngine {
        guard let directory = engine as? DirectoryEngine else { preconditionFailure("the test is for the directory") }
        return directory
    }
}

extension ObjectEngine {
    /// Makes a new file for an object.
    package func create(length: Int64?) throws -> NewFile {
        try create(FilePurpose(StoredObject.Place(bucket: "bucket", key: "key", uploadID: "upload")), length: length)
    }

    /// Stores bytes in a new file, whose rows `record` writes.
    package func store(_ bytes: [UInt8], record: (_ fileID: String) throws -> Void) throws {
        let new = try create(length: Int64(bytes.count))
        try new.sink.receive(bytes)
        try new.commit { try record(new.id) }
    }
}

extension BodySink {
    /// Receives a whole body.
    package func receive(_ bytes: [UInt8]) throws {
        for start in stride(from: 0, to: bytes.count, by: BodyPipeline.pieceSize) {
            try bytes[start..<min(start + BodyPipeline.pieceSize, bytes.count)].withUnsafeBytes(append)
        }
        try finish(md5: Digest.md5(bytes))
    }
}

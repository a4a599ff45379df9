import Foundation
import HTTPTypes
import Proto
import Wire

/// The bytes of an archive, taken out of the messages of a Backup call (Connect protocol, "Streaming-Response").
///
/// Sendable although it has state: that is touched on the thread of its connection only.
final class BackupDownload: HTTPBodySource, @unchecked Sendable {
    /// Many times what a message of the call has.
    private static let messageLimit = 1 << 24

    private enum Message {
        case chunk(BackupChunk)
        case end(EndOfStream)
    }

    private let stream: any HTTPBodySource
    private var source: ByteSource
    private var rest: ArraySlice<UInt8> = []
    /// The archive's summary has come: all of it is there.
    private var isWhole = false

    private init(_ stream: any HTTPBodySource) {
        self.stream = stream
        source = ByteSource(stream)
    }

    /// The answer to the browser: the archive as it is made, or why there is none.
    static func response(to call: HTTPResponse, named name: String) -> HTTPResponse {
        guard call.status == 200, let stream = call.body.source else { return call.securedForConsole }
        let download = BackupDownload(stream)
        switch download.next() {
        case .chunk(let chunk)?:
            download.take(chunk)
            let fields: HTTPFields = [
                "Content-Type": "application/octet-stream", "Content-Disposition": "attachment; filename=\"\(name)\"",
            ]
            return .console(200, fields, body: .stream(download))
        case .end(let end)?:
            download.close()
            let reason = end.error?.message ?? "there is no backup"
            return .console(
                409, ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array("\(reason)\n".utf8)))
        case nil:
            download.close()
            return .refusal(.failure)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        while rest.isEmpty {
            switch next() {
            case .chunk(let chunk)?: take(chunk)
            case .end(let end)?: return end.error == nil && isWhole ? 0 : nil
            case nil: return nil
            }
        }
        let taken = rest.prefix(buffer.count)
        buffer.copyBytes(from: taken)
        rest = rest.dropFirst(taken.count)
        return taken.count
    }

    func close() { stream.close() }

    private func take(_ chunk: BackupChunk) {
        rest = chunk.data[...]
        isWhole = isWhole || chunk.summary != nil
    }

    /// `nil` where the stream breaks off, or is none.
    private func next() -> Message? {
        guard let prefix = source.read(MessagePrefix.byteCount) else { return nil }
        let length = prefix[1...].reduce(0) { $0 << 8 | Int($1) }
        guard length <= Self.messageLimit, let bytes = source.read(length) else { return nil }
        switch prefix[0] {
        case 0: return (try? BackupChunk(decoding: bytes)).map(Message.chunk)
        case 2: return (try? JSONDecoder().decode(EndOfStream.self, from: Data(bytes))).map(Message.end)
        default: return nil
        }
    }
}

/// The last message of a Connect stream, as far as it matters here.
private struct EndOfStream: Decodable {
    struct Failure: Decodable {
        let message: String?
    }

    let error: Failure?
}

extension HTTPResponse.Body {
    /// `nil` for what no call answers.
    fileprivate var source: (any HTTPBodySource)? {
        switch self {
        case .stream(let source): source
        case .bytes(let bytes): BytesAtHand(bytes)
        case .file, .omitted: nil
        }
    }
}

/// A body that is there.
private final class BytesAtHand: HTTPBodySource {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let taken = bytes.prefix(buffer.count)
        buffer.copyBytes(from: taken)
        bytes = bytes.dropFirst(taken.count)
        return taken.count
    }

    func close() {}
}

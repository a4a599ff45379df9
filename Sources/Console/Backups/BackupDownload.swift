import HTTPTypes
import Proto
import RPC
import ThreadCalls

/// The bytes of an archive, taken out of the messages of a Backup call.
///
/// Sendable although it has state: that is touched on the thread of its connection only.
final class BackupDownload: HTTPBodySource, @unchecked Sendable {  // used by its connection's thread alone
    private let messages: any LocalMessages
    private var rest: ArraySlice<UInt8> = []
    /// The archive's summary has come: all of it is there.
    private var isWhole = false

    private init(_ messages: any LocalMessages) {
        self.messages = messages
    }

    /// The answer to the browser: the archive as it is made, or the error.
    static func response(to call: any LocalMessages, named name: String) -> HTTPResponse {
        let download = BackupDownload(call)
        do throws(RPCError) {
            guard try download.takeNext() else {
                download.close()
                return refusal("the gateway sent no backup")
            }
        } catch {
            download.close()
            return refusal(error.message)
        }
        let fields: HTTPFields = [
            "Content-Type": "application/octet-stream", "Content-Disposition": "attachment; filename=\"\(name)\"",
        ]
        return .console(200, fields, body: .stream(download))
    }

    /// The answer without an archive: the reason, in words for the user.
    static func refusal(_ reason: String) -> HTTPResponse {
        .console(409, ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array("\(reason)\n".utf8)))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        while rest.isEmpty {
            guard let hasMore = try? takeNext() else { return nil }
            guard hasMore else { return isWhole ? 0 : nil }
        }
        let taken = rest.prefix(buffer.count)
        buffer.copyBytes(from: taken)
        rest = rest.dropFirst(taken.count)
        return taken.count
    }

    func close() { messages.close() }

    /// - Returns: whether there was a message.
    private func takeNext() throws(RPCError) -> Bool {
        guard let bytes = try messages.next() else { return false }
        guard let chunk = try? BackupChunk(decoding: bytes) else {
            throw RPCError(bare: .internalError, "the gateway failed")
        }
        rest = chunk.data[...]
        isWhole = isWhole || chunk.summary != nil
        return true
    }
}

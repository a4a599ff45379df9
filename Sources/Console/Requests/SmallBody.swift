import HTTPTypes

/// Receives the small body of a request to the console itself, and responds to it.
final class SmallBody: HTTPBodySink {
    private var bytes: [UInt8] = []
    private var isTooLong = false
    private let limit: Int
    private let respond: ([UInt8]) -> HTTPResponse

    /// - Parameter limit: the longest body, in bytes; a password has 1024 at most.
    init(limit: Int = 16 << 10, _ respond: @escaping ([UInt8]) -> HTTPResponse) {
        self.limit = limit
        self.respond = respond
    }

    func receive(_ piece: UnsafeRawBufferPointer) {
        isTooLong = isTooLong || bytes.count + piece.count > limit
        if !isTooLong { bytes += piece }
    }

    var isAnswered: Bool { isTooLong }

    func finish() -> HTTPResponse {
        isTooLong ? .refusal(.malformed("at most \(limit) bytes long")) : respond(bytes)
    }

    func abandon() {}
}

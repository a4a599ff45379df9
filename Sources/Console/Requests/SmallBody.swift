import HTTPTypes

/// Receives the small body of a request to the console itself, and responds to it.
final class SmallBody: HTTPBodySink {
    /// The longest body, in bytes; a password has 1024 at most.
    private static let limit = 16 * 1024

    private var bytes: [UInt8] = []
    private var isTooLong = false
    private let answer: ([UInt8]) -> HTTPResponse

    init(_ answer: @escaping ([UInt8]) -> HTTPResponse) {
        self.answer = answer
    }

    func receive(_ piece: UnsafeRawBufferPointer) {
        isTooLong = isTooLong || bytes.count + piece.count > Self.limit
        if !isTooLong { bytes += piece }
    }

    var isAnswered: Bool { isTooLong }

    func finish() -> HTTPResponse {
        isTooLong ? .refusal(.malformed("at most \(Self.limit) bytes long")) : answer(bytes)
    }

    func abandon() {}
}

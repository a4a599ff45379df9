import TestSupport
import Testing

@testable import ThreadCalls

@Suite(.timeLimited) struct RequestPiecesTests {
    /// The pieces of one request, with results that can be compared.
    private final class Request {
        private var pieces = RequestPieces()

        func receive(_ piece: UInt8) -> Bool { pieces.receive([piece]) }
        func finish() -> Bool { pieces.finish() }
        func hold(_ isHeld: Bool) -> Bool { pieces.hold(isHeld) }

        /// Takes what is passed to the call next; `nil` = nothing.
        func next() -> String? {
            switch pieces.next() {
            case .piece(let piece): String(decoding: piece, as: UTF8.self)
            case .end: "end"
            case .nothing: nil
            }
        }

        func all() -> [String] { Array(sequence(state: ()) { [self] _ in next() }) }
    }

    private let request = Request()

    @Test func piecesPassWhileTheHandlerKeepsUp() {
        #expect(request.receive(65) && request.receive(66) && request.finish())
        #expect(!request.finish() && request.all() == [])
    }

    @Test func piecesWaitInOrderWithTheEndBehindThem() {
        #expect(!request.hold(true))
        #expect(!request.receive(65) && !request.receive(66) && !request.finish())
        #expect(request.all() == [])
        #expect(request.hold(false))
        #expect(request.all() == ["A", "B", "end"])
    }

    @Test func handlerThatFallsBehindAgainKeepsTheRestWaiting() {
        _ = request.hold(true)
        #expect(!request.receive(65) && !request.receive(66))
        #expect(request.hold(false) && request.next() == "A")
        #expect(!request.hold(true) && request.all() == [])
        #expect(request.hold(false) && request.all() == ["B"])
        #expect(request.receive(67))
    }

    @Test func endWithoutPiecesDoesNotWaitForTheHandler() {
        _ = request.hold(true)
        #expect(request.finish() && !request.hold(false))
    }
}

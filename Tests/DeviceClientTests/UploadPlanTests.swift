import Proto
import StoreClient
import TestSupport
import Testing

@testable import DeviceClient

@Suite(.timeLimited) struct UploadPlanTests {
    private static let attempt = UploadAttempt(
        upload: "u1", endpoint: "http://127.0.0.1:1", region: "", bucket: "b-1", key: "k", partSize: 100)

    private static func begun(size: Int64) throws -> UploadState {
        let source = SourceIdentity(path: "/f", size: size, modified: 1, device: 1, inode: 1)
        return try UploadState(.begun(source: source, tags: [:], key: "i"))
    }

    private static func state(size: Int64, _ events: [UploadEvent]) throws -> UploadState {
        var state = try begun(size: size)
        for event in events { try state.apply(event) }
        return state
    }

    private static func part(_ number: Int, _ size: Int64) -> StorePart {
        StorePart(number: number, size: size, etag: "\"E\(number)\"", crc64: UInt64(number))
    }

    private static let created = UploadEvent.created(logical: "l1", attempt: attempt)

    @Test func theStepsOfAFileInParts() throws {
        var state = try Self.begun(size: 250)
        #expect(state.step == .create)
        try state.apply(Self.created)
        #expect(state.step == .initiate(Self.attempt))
        try state.apply(.initiated(multipart: "m"))
        let parts = [
            PartRange(number: 1, bytes: 0..<100), PartRange(number: 2, bytes: 100..<200),
            PartRange(number: 3, bytes: 200..<250),
        ]
        #expect(state.step == .send(Self.attempt, multipart: "m", parts))
        try state.apply(.acknowledged(part: Self.part(2, 100)))
        #expect(state.step == .send(Self.attempt, multipart: "m", [parts[0], parts[2]]))
        #expect(state.acknowledgedBytes == 100)
        try state.apply(.acknowledged(part: Self.part(3, 50)))
        try state.apply(.acknowledged(part: Self.part(1, 100)))
        #expect(
            state.step
                == .join(Self.attempt, multipart: "m", [Self.part(1, 100), Self.part(2, 100), Self.part(3, 50)]))
        try state.apply(.stored(upload: "u1", etag: "\"E-3\"", parts: 3))
        #expect(state.step == .complete(Self.attempt, etag: "\"E-3\"", parts: 3))
        #expect(state.acknowledgedBytes == 250)
    }

    @Test(arguments: [0, 1, 100] as [Int64])
    func aFileOfOnePartIsPutWhole(size: Int64) throws {
        let state = try Self.state(size: size, [Self.created])
        #expect(state.step == .put(Self.attempt))
    }

    @Test func noMorePartsThanAMultipartUploadTakes() throws {
        #expect(try Self.state(size: 1_000_000, [Self.created]).step == .initiate(Self.attempt))
        guard case .fail = try Self.state(size: 1_000_001, [Self.created]).step else {
            Issue.record("10,001 parts")
            return
        }
    }

    @Test func partsOfAnySizeCoverTheFile() {
        for (size, partSize) in [(0, 100), (1, 100), (100, 100), (101, 100), (Int64.max, Int64.max), (7, Int64.max)] {
            let parts = PartRange.all(size: size, partSize: partSize)
            #expect(parts.reduce(0) { $0 + Int64($1.bytes.count) } == size)
            #expect(parts.map(\.number) == Array(1..<parts.count + 1))
        }
    }

    @Test func partsThatTheStoreHoldsReplaceTheJournals() throws {
        var state = try Self.state(
            size: 250, [Self.created, .initiated(multipart: "m"), .acknowledged(part: Self.part(1, 100))])
        try state.apply(.held(parts: [Self.part(3, 50)]))
        guard case .send(_, _, let missing) = state.step else {
            Issue.record("nothing is missing")
            return
        }
        #expect(missing.map(\.number) == [1, 2])
        try state.apply(.lost)
        #expect(state.step == .initiate(Self.attempt))
    }

    @Test func aPartOfAnotherSizeIsSentAgain() throws {
        let state = try Self.state(
            size: 250, [Self.created, .initiated(multipart: "m"), .acknowledged(part: Self.part(1, 99))])
        guard case .send(_, _, let missing) = state.step else {
            Issue.record("nothing is missing")
            return
        }
        #expect(missing.map(\.number) == [1, 2, 3])
    }

    @Test func eventsThatCannotComeAreRefused() throws {
        let stored: [UploadEvent] = [Self.created, .stored(upload: "u1", etag: "e", parts: 0)]
        let wrong: [[UploadEvent]] = [
            [.initiated(multipart: "m")], [.lost], [Self.created, .acknowledged(part: Self.part(1, 100))],
            [Self.created, .held(parts: [])], [.stored(upload: "u1", etag: "e", parts: 0)], stored + [.lost],
            stored + [.initiated(multipart: "m")],
        ]
        for events in wrong {
            #expect(throws: UploadState.Misplaced.self) { try Self.state(size: 250, events) }
        }
        #expect(throws: UploadState.Misplaced.self) { try UploadState(.lost) }
        #expect(throws: UploadState.Misplaced.self) { try Self.begun(size: -1) }
        let nothing = UploadAttempt(upload: "u", endpoint: "e", region: "", bucket: "b", key: "k", partSize: 0)
        #expect(throws: UploadState.Misplaced.self) {
            try Self.state(size: 1, [.created(logical: "l", attempt: nothing)])
        }
    }

    // MARK: The rows of GetUploadRecovery

    private static func response(
        _ action: UploadRecoveryAction, current: String = "u1", restartAllowed: Bool = true, etag: String = "",
        parts: Int32 = 0, reason: String = ""
    ) -> GetUploadRecoveryResponse {
        GetUploadRecoveryResponse(
            logicalUploadID: "l1", currentUploadID: current, restartAllowed: restartAllowed, terminalReason: reason,
            nextAction: action, completedPartCount: parts, ossObjectEtag: etag)
    }

    private static let phases: [[UploadEvent]] = [
        [created], [created, .initiated(multipart: "m")],
        [created, .initiated(multipart: "m"), .acknowledged(part: part(1, 100))],
        [created, .stored(upload: "u1", etag: "\"E-3\"", parts: 3)],
    ]

    @Test(arguments: phases)
    func everyRowOfTheTable(events: [UploadEvent]) throws {
        let state = try Self.state(size: 250, events)
        #expect(state.recovery(Self.response(.continue)) == .goOn)
        #expect(state.recovery(Self.response(.restart)) == .restart(from: "u1"))
        #expect(state.recovery(Self.response(.restart, current: "u2")) == .restart(from: "u2"))
        #expect(
            state.recovery(Self.response(.completeOnly, etag: "\"E-3\"", parts: 3))
                == .complete(upload: "u1", etag: "\"E-3\"", parts: 3))
        #expect(state.recovery(Self.response(.abort, reason: "full")) == .end(reason: "full"))
        // UPLOAD_NOT_FOUND.
        #expect(state.recovery(nil) == .beginAnew)
        // A restart whose response was lost, and that was used by a data-plane request.
        #expect(state.recovery(Self.response(.continue, current: "u2")) == .restart(from: "u2"))
    }

    @Test func answersThatMakeNoSenseEndNothing() throws {
        let state = try Self.state(size: 250, [Self.created])
        let wrong = [
            Self.response(.restart, restartAllowed: false), Self.response(.completeOnly), Self.response(.unspecified),
            Self.response(UploadRecoveryAction(rawValue: 99)),
        ]
        for response in wrong {
            guard case .refuse = state.recovery(response) else {
                Issue.record("\(response.nextAction)")
                continue
            }
        }
    }

    @Test func anObjectThatIsNotWhatItWasSaidToBeIsSentAnew() throws {
        let state = try Self.state(size: 250, Self.phases[3])
        #expect(state.recovery(Self.response(.continue), wasRefused: true) == .restart(from: "u1"))
    }
}

import Proto
import StoreClient
import TestSupport
import Testing

@testable import DeviceClient

/// A gateway and its store from the view of one upload, by the contract's table, without network and time.
private struct FakeGateway {
    struct Multipart {
        var parts: [Int: StorePart] = [:]
    }

    var uploads: [String] = []
    var multiparts: [String: Multipart] = [:]
    var isTouched = false
    var object: (etag: String, parts: Int)?
    var completions = 0
    var bytesReceived: Int64 = 0
    private var count = 0

    mutating func create(restartFrom former: String) -> UploadEvent {
        if former.isEmpty { precondition(uploads.isEmpty, "an upload that lives was begun twice") }
        count += 1
        uploads.append("u\(count)")
        (multiparts, isTouched, object) = ([:], false, nil)
        return .created(logical: "l1", attempt: attempt)
    }

    var attempt: UploadAttempt {
        UploadAttempt(
            upload: uploads.last ?? "", endpoint: "http://127.0.0.1:1", region: "", bucket: "b-1", key: "k",
            partSize: 100)
    }

    mutating func initiate() -> UploadEvent {
        (count, isTouched) = (count + 1, true)
        multiparts["m\(count)"] = Multipart()
        return .initiated(multipart: "m\(count)")
    }

    mutating func put(_ range: PartRange, _ multipart: String) -> UploadEvent {
        let size = Int64(range.bytes.count)
        let part = StorePart(number: range.number, size: size, etag: "\"E\(range.number)\"", crc64: 1)
        multiparts[multipart]?.parts[range.number] = part
        bytesReceived += size
        return .acknowledged(part: part)
    }

    mutating func store(etag: String, parts: Int, bytes: Int64 = 0) -> UploadEvent {
        (object, isTouched) = ((etag, parts), true)
        bytesReceived += bytes
        return .stored(upload: attempt.upload, etag: etag, parts: parts)
    }

    mutating func complete() { completions = 1 }

    var recovery: GetUploadRecoveryResponse {
        func response(_ action: UploadRecoveryAction) -> GetUploadRecoveryResponse {
            GetUploadRecoveryResponse(
                logicalUploadID: "l1", currentUploadID: attempt.upload, restartAllowed: true, nextAction: action,
                completedPartCount: Int32(object?.parts ?? 0), ossObjectEtag: object?.etag ?? "")
        }
        if completions > 0 { return response(.completeOnly) }
        if let object, object.parts > 0 { return response(.completeOnly) }
        if uploads.count > 1 && !isTouched { return response(.restart) }
        if multiparts.values.contains(where: { !$0.parts.isEmpty }) { return response(.continue) }
        return response(multiparts.isEmpty ? .continue : .restart)
    }
}

/// A device that runs the plan against the fake. It may crash at any event: after the gateway has processed it, and before it is in
/// the journal.
private struct FakeDevice {
    struct Crash: Error {}

    var journal: [UploadEvent]
    /// The number of events that are still journaled before the crash; `nil` = no crash.
    var crashAfter: Int?

    private func replayed() throws -> UploadState {
        var state = try UploadState(journal[0])
        for event in journal.dropFirst() { try state.apply(event) }
        return state
    }

    /// Crashes if the time has come.
    private mutating func survive() throws {
        guard let left = crashAfter else { return }
        guard left > 0 else { throw Crash() }
        crashAfter = left - 1
    }

    private mutating func record(_ event: UploadEvent) throws {
        try survive()
        journal.append(event)
        _ = try replayed()
    }

    mutating func run(_ gateway: inout FakeGateway, resumed: Bool) throws {
        if resumed, try replayed().logicalID != nil { try recover(&gateway) }
        while true {
            let state = try replayed()
            switch state.step {
            case .create: try record(gateway.create(restartFrom: ""))
            case .put: try record(gateway.store(etag: "\"W\"", parts: 0, bytes: state.source.size))
            case .initiate: try record(gateway.initiate())
            case .send(_, let multipart, let missing): try record(gateway.put(missing[0], multipart))
            case .join(_, _, let parts): try record(gateway.store(etag: "\"E-\(parts.count)\"", parts: parts.count))
            case .complete(let attempt, let etag, let parts):
                // The comparisons of CompleteUpload.
                guard attempt.upload == gateway.attempt.upload, let object = gateway.object, object == (etag, parts)
                else {
                    throw UploadState.Misplaced()
                }
                gateway.complete()
                return try survive()
            case .fail: throw UploadState.Misplaced()
            }
        }
    }

    private mutating func recover(_ gateway: inout FakeGateway) throws {
        let state = try replayed()
        switch state.recovery(gateway.recovery) {
        case .goOn:
            if case .sending(_, let multipart, let known) = state.phase {
                let held = gateway.multiparts[multipart]?.parts
                if held == nil { try record(.lost) }
                if let held, held != known { try record(.held(parts: held.values.sorted { $0.number < $1.number })) }
            } else if case .created = state.phase, let object = gateway.object {
                try record(.stored(upload: gateway.attempt.upload, etag: object.etag, parts: object.parts))
            }
        case .restart(let former): try record(gateway.create(restartFrom: former))
        case .complete(let upload, let etag, let parts):
            try record(.stored(upload: upload, etag: etag, parts: parts))
        case .beginAnew, .end, .refuse: throw UploadState.Misplaced()
        }
    }
}

@Suite(.timeLimited) struct CrashTests {
    private func device(size: Int64) -> FakeDevice {
        let source = SourceIdentity(path: "/f", size: size, modified: 1, device: 1, inode: 1)
        return FakeDevice(journal: [.begun(source: source, tags: [:], key: "i")])
    }

    /// Twice, so that recoveries are interrupted as well.
    @Test(arguments: [0, 100, 250, 300] as [Int64])
    func anyTwoCrashesAreRecoveredFrom(size: Int64) throws {
        for first in 0..<8 {
            for second in 0..<8 {
                var gateway = FakeGateway()
                var device = device(size: size)
                var kills: Int64 = 0
                for crash in [first, second, nil] {
                    device.crashAfter = crash
                    do {
                        try device.run(&gateway, resumed: kills > 0)
                    } catch is FakeDevice.Crash {
                        kills += 1
                        // If the response to the first CreateLogicalUpload was lost, its upload is orphaned, and swept later.
                        if device.journal.count == 1 { gateway = FakeGateway() }
                        continue
                    }
                    break
                }
                #expect(gateway.completions == 1, "crashes after \(first) and \(second) events")
                #expect(gateway.bytesReceived == size, "bytes that were acknowledged are not sent again")
            }
        }
    }
}

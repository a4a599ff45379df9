import Basics
import DeviceClient
import GatewayProto
import StoreClient

@testable import Uploads

/// A violated rule.
struct Violation: Error, CustomStringConvertible {
    let rule: String
    var found = ""

    var description: String { found.isEmpty ? rule : "\(rule): \(found)" }
}

/// The invariants (docs/laboratory.md), with the messages that each side has received.
struct Rules {
    /// The uploads whose CompleteUpload succeeded.
    private var completed: Set<String> = []
    /// The successful creates: by their key, and the number of those without a key.
    private var keys: Set<String> = []
    private var createsWithoutKey = 0
    /// The stored data that the device knows about: parts by multipart upload, and the uploads of whole objects.
    private var knownParts: [String: Set<Int>] = [:]
    private var knownObjects: Set<String> = []
    /// The data files whose bytes were compared.
    private var compared: Set<String> = []

    // MARK: Events

    /// - Throws: `Violation` for a call that the device must not make with its knowledge.
    func sent(_ call: Call) throws {
        let isKnown =
            switch call {
            case .part(_, let multipart, let range): knownParts[multipart]?.contains(range.number) == true
            case .put(let attempt): knownObjects.contains(attempt.upload)
            default: false
            }
        try require(!isKnown, "bytes that were acknowledged are not sent again", "\(call)")
    }

    /// Records that the device has received the reply.
    mutating func delivered(_ reply: Reply, to call: Call) {
        switch (call, reply) {
        case (.part(_, let multipart, _), .part(let part)): knownParts[multipart, default: []].insert(part.number)
        case (.list(_, let multipart), .parts(let parts)): knownParts[multipart] = Set(parts.map(\.number))
        case (.put(let attempt), .put), (.join(let attempt, _, _), .joined), (.head(let attempt), .head(_?)):
            knownObjects.insert(attempt.upload)
        default: break
        }
    }

    /// Records that the gateway has sent the reply, which may still be lost.
    mutating func answered(_ reply: Reply, to call: Call) {
        switch (call, reply) {
        case (.complete(let request), .completed): completed.insert(request.uploadID)
        case (.create("", let key?), .created): keys.insert(key)
        case (.create("", nil), .created): createsWithoutKey += 1
        default: break
        }
    }

    // MARK: Stored state

    /// - Parameters:
    ///   - before: the facts before the last step.
    ///   - isStored: returns whether a data file has the bytes that the device uploads.
    mutating func check(_ facts: Facts, before: Facts, isStored: (String) -> Bool) throws {
        try checkObjects(facts, isStored)
        try checkAttempts(facts, before)
        for usage in [facts.deviceUsage, facts.siteUsage] {
            try require(usage.bytes >= 0 && usage.objects >= 0 && usage.uploads >= 0, "no quota is below 0", "\(usage)")
        }
        try require(
            facts.deviceUsage == facts.counted, "what counts as used is what is there",
            "\(facts.deviceUsage), not \(facts.counted)")
        try require(facts.recordedTwice.isEmpty, "nothing is recorded twice", "\(facts.recordedTwice)")
        let begun = Set(facts.attempts.map(\.logicalID)).count
        try require(
            begun <= keys.count + createsWithoutKey, "one create begins one upload", "\(begun) began")
    }

    private mutating func checkObjects(_ facts: Facts, _ isStored: (String) -> Bool) throws {
        let listed = Set(facts.listed.map(\.uploadID))
        for id in completed { try require(listed.contains(id), "what was acknowledged as complete is listed", id) }
        for (uploadID, fileID, _) in facts.listed where compared.insert(fileID).inserted {
            try require(isStored(fileID), "what is listed has the file's bytes", uploadID)
        }
        for (logicalID, attempts) in Dictionary(grouping: facts.attempts, by: \.logicalID) {
            try require(
                attempts.count { $0.state != .superseded } == 1 && attempts.count { listed.contains($0.id) } <= 1,
                "a logical upload has one attempt that counts, and at most one object", logicalID)
        }
    }

    private func checkAttempts(_ facts: Facts, _ before: Facts) throws {
        for attempt in facts.attempts {
            switch attempt.state {
            case .current where !attempt.isSwept: break
            case .completed:
                let isListed = facts.listed.contains { $0.uploadID == attempt.id }
                try require(isListed, "what was completed is listed", attempt.id)
                let hasMore = facts.multiparts.contains { $0.uploadID == attempt.id }
                try require(!hasMore, "what was completed holds its object and nothing else", attempt.id)
            default: try require(!facts.holds(attempt.id), "what has ended holds nothing", attempt.id)
            }
            guard attempt.state == .superseded, isWorthKeeping(attempt.id, before, at: facts.now) else { continue }
            throw Violation(
                rule: "what holds acknowledged bytes is not restarted within its session", found: attempt.id)
        }
    }

    /// Whether the attempt was within its session and had data that the device knew to be stored.
    private func isWorthKeeping(_ id: String, _ facts: Facts, at now: UnixTime) -> Bool {
        facts.attempts.contains { $0.id == id && $0.state == .current && !$0.isSwept && $0.sessionEndsAt > now }
            && (facts.multiparts.contains { $0.uploadID == id && knownParts[$0.id]?.isEmpty == false }
                || knownObjects.contains(id) && facts.objects.contains { $0.uploadID == id })
    }

    /// Checks the state after a sweep.
    func checkSwept(_ facts: Facts) throws {
        for attempt in facts.attempts where attempt.state == .current {
            let isWhole = facts.objects.contains { $0.uploadID == attempt.id && $0.isMultipart }
            let end = attempt.sessionEndsAt.adding(seconds: isWhole ? World.wholeObjectGrace : 0)
            try require(end > facts.now || !facts.holds(attempt.id), "nothing outlives its session", attempt.id)
        }
    }

    /// Checks the state long after the last event.
    ///
    /// - Parameters:
    ///   - files: the files on the disk, of every simulation in this world.
    ///   - referenced: the files with a row.
    mutating func checkOutlived(
        _ facts: Facts, files: Set<String>, referenced: Set<String>, isStored: (String) -> Bool
    ) throws {
        compared = []
        try checkSwept(facts)
        try checkObjects(facts, isStored)
        try require(
            files == referenced, "every file has its row, and every row its file",
            "\(files.symmetricDifference(referenced))")
    }

    private func require(_ holds: Bool, _ rule: String, _ found: @autoclosure () -> String) throws {
        if !holds { throw Violation(rule: rule, found: found()) }
    }
}

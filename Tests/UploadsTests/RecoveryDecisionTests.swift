import Proto
import TestSupport
import Testing

@testable import Uploads

@Suite(.timeLimited) struct RecoveryDecisionTests {
    /// A row of the table: its condition and its result.
    struct Row: Sendable {
        let name: String
        let holds: @Sendable (UploadFacts) -> Bool
        let status: LogicalUploadStatus
        let action: UploadRecoveryAction
        let canRefresh: Bool
        let isRestartAllowed: Bool
    }

    /// The rows in the order of precedence.
    static let table = [
        Row(
            name: "completed", holds: \.isCompleted, status: .completed, action: .completeOnly,
            canRefresh: true, isRestartAllowed: false),
        Row(
            name: "aborted", holds: \.isAborted, status: .terminal, action: .abort,
            canRefresh: false, isRestartAllowed: false),
        Row(
            name: "whole multipart object", holds: \.hasWholeMultipartObject, status: .completing,
            action: .completeOnly, canRefresh: true, isRestartAllowed: true),
        Row(
            name: "past its end", holds: \.isPastItsEnd, status: .active, action: .restart,
            canRefresh: false, isRestartAllowed: true),
        Row(
            name: "lost", holds: \.isLost, status: .active, action: .restart,
            canRefresh: false, isRestartAllowed: true),
        Row(
            name: "restarted and untouched", holds: { $0.isRestart && !$0.isTouched }, status: .active,
            action: .restart, canRefresh: true, isRestartAllowed: true),
        Row(
            name: "a multipart upload with a part", holds: \.hasPart, status: .active, action: .continue,
            canRefresh: true, isRestartAllowed: true),
        Row(
            name: "initiated without a part", holds: \.hasMultipart, status: .active, action: .restart,
            canRefresh: true, isRestartAllowed: true),
        Row(
            name: "nothing stored, or put whole", holds: { _ in true }, status: .active, action: .continue,
            canRefresh: true, isRestartAllowed: true),
    ]

    static let everyFacts: [UploadFacts] = (0..<512).map { bits in
        func bit(_ place: Int) -> Bool { bits >> place & 1 == 1 }
        return UploadFacts(
            isCompleted: bit(0), isAborted: bit(1), hasWholeMultipartObject: bit(2), isPastItsEnd: bit(3),
            isLost: bit(4), isRestart: bit(5), isTouched: bit(6), hasMultipart: bit(7), hasPart: bit(8))
    }

    @Test func firstMatchWinsWhateverElseHolds() throws {
        var decidedBy: Set<String> = []
        for facts in Self.everyFacts {
            let row = try #require(Self.table.first { $0.holds(facts) })
            let decision = RecoveryDecision(facts)
            #expect(decision.status == row.status, "\(row.name): \(facts)")
            #expect(decision.action == row.action, "\(row.name): \(facts)")
            #expect(decision.canRefreshCredentials == row.canRefresh, "\(row.name): \(facts)")
            #expect(decision.isRestartAllowed == row.isRestartAllowed, "\(row.name): \(facts)")
            decidedBy.insert(row.name)
        }
        #expect(decidedBy.count == Self.table.count)
    }

    @Test func decisionToRestartAllowsARestart() {
        for facts in Self.everyFacts {
            let decision = RecoveryDecision(facts)
            if decision.action == .restart { #expect(decision.isRestartAllowed, "\(facts)") }
            if decision.action == .continue { #expect(decision.canRefreshCredentials, "\(facts)") }
        }
    }

    @Test(arguments: [
        (UploadFacts(), LogicalUploadStatus.active, UploadRecoveryAction.continue),
        (UploadFacts(isTouched: true), .active, .continue),
        (UploadFacts(isTouched: true, hasMultipart: true, hasPart: true), .active, .continue),
        (UploadFacts(isTouched: true, hasMultipart: true), .active, .restart),
        (UploadFacts(isRestart: true), .active, .restart),
        (UploadFacts(isRestart: true, isTouched: true), .active, .continue),
        (UploadFacts(hasWholeMultipartObject: true, isTouched: true), .completing, .completeOnly),
        (UploadFacts(hasWholeMultipartObject: true, isPastItsEnd: true), .completing, .completeOnly),
        (UploadFacts(isCompleted: true, hasWholeMultipartObject: true), .completed, .completeOnly),
        (UploadFacts(isPastItsEnd: true), .active, .restart),
        (UploadFacts(isLost: true, hasMultipart: true, hasPart: true), .active, .restart),
        (UploadFacts(isAborted: true), .terminal, .abort),
    ])
    func factsDecideStatusAndAction(_ facts: UploadFacts, _ status: LogicalUploadStatus, _ action: UploadRecoveryAction)
    {
        #expect(RecoveryDecision(facts).status == status)
        #expect(RecoveryDecision(facts).action == action)
    }
}

import Accounts
import Foundation
import GatewayTesting
import Proto

@testable import ObjectStore

/// A rule of either side, broken: what the laboratory has to notice.
enum Sabotage: CaseIterable {
    /// The client's journal loses an acknowledged part.
    case partForgotten
    /// GetUploadRecovery says CONTINUE where RESTART is due.
    case continueForRestart
    /// GetUploadRecovery says RESTART where CONTINUE is due.
    case restartForContinue
    /// CompleteUpload is answered, and nothing was done.
    case completionForgotten
    /// A completed object's bytes change.
    case bytesChanged
    /// A completion is recorded a second time.
    case recordedTwice
    /// What ended sessions stored is never removed.
    case sweepForgotten
    /// A completion takes its bytes off the device's usage.
    case usageWrong
}

extension SimulatedGateway {
    /// Does what `answer` does, with the given sabotage.
    func answer(_ request: Request, under sabotage: Sabotage?) async throws -> Reply {
        if sabotage == .completionForgotten, case .complete = request.call { return .completed }
        let reply = await answer(request)
        switch (sabotage, request.call, reply) {
        case (.continueForRestart, _, .recovery(var answer)) where answer.nextAction == .restart:
            answer.nextAction = .continue
            return .recovery(answer)
        case (.restartForContinue, _, .recovery(var answer)) where answer.nextAction == .continue:
            answer.nextAction = .restart
            return .recovery(answer)
        case (.bytesChanged, .complete(let call), .completed):
            let found = try world.scene.database.readBlocking { try StoreRecords($0).object(uploadID: call.uploadID) }
            if let found { try Data().write(to: URL(filePath: world.store.data.path(of: found.fileID))) }
        case (.recordedTwice, .complete, .completed):
            let scene = world.scene
            if let line = try scene.rows.audit().last(where: { $0.action == "CompleteUpload" }) {
                let now = scene.clock.now()
                try scene.database.writeBlocking { try Audit.record(line, at: now, in: $0) }
            }
        case (.usageWrong, .complete, .completed):
            try world.scene.database.writeBlocking { connection in
                _ = try connection.execute("UPDATE upload_usage SET bytes = bytes - 1")
            }
        default: break
        }
        return reply
    }
}

import Accounts
import Basics
import Database
import Foundation
import GatewayTesting
import Proto
import StoreTesting

@testable import DirectoryEngine
@testable import ObjectStore

/// A deliberate violation of a rule by either side, which the laboratory has to detect.
enum Sabotage: CaseIterable {
    /// The client's journal loses an acknowledged part.
    case partForgotten
    /// GetUploadRecovery returns CONTINUE instead of RESTART.
    case continueForRestart
    /// GetUploadRecovery returns RESTART instead of CONTINUE.
    case restartForContinue
    /// CompleteUpload succeeds without doing anything.
    case completionForgotten
    /// A completed object's bytes change.
    case bytesChanged
    /// A completion is recorded a second time.
    case recordedTwice
    /// The data of ended sessions is never removed.
    case sweepForgotten
    /// A completion subtracts its bytes from the device's usage.
    case usageWrong
}

extension SimulatedGateway {
    /// Handles a request like `response`, with the given sabotage.
    func response(_ request: Request, under sabotage: Sabotage?) async throws -> Reply {
        if sabotage == .completionForgotten, case .complete = request.call { return .completed }
        let reply = await response(request)
        switch (sabotage, request.call, reply) {
        case (.continueForRestart, _, .recovery(var response)) where response.nextAction == .restart:
            response.nextAction = .continue
            return .recovery(response)
        case (.restartForContinue, _, .recovery(var response)) where response.nextAction == .continue:
            response.nextAction = .restart
            return .recovery(response)
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

import CommandLineInterface
import Proto

/// `data-gateway clock confirm`
struct ClockConfirm: ClientCommand {
    static let name = "confirm"
    static let summary = "Confirm that the gateway's clock is right, so that it deletes by it again"
    static let discussion = [
        """
        Look at 'clock show' first: what is older than it is kept, by this clock, is deleted within a minute and cannot \
        be brought back.
        """
    ]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ClockServiceClient(gateway)
        let clock = try await service.getClock(GetClockRequest())
        _ = try await service.confirmClock(ConfirmClockRequest(stepSeconds: clock.stepSeconds))
        return Reply(try await service.getClock(GetClockRequest()))
    }
}

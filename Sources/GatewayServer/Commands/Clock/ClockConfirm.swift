import CommandLineInterface
import Proto

/// `data-gateway clock confirm`
struct ClockConfirm: ClientCommand {
    static let name = "confirm"
    static let summary = "Confirm that the gateway's clock is right, so that deletions by age continue"
    static let discussion = [
        """
        Run 'clock show' first: everything that is older than its retention by this clock is deleted within a minute and \
        cannot be restored.
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

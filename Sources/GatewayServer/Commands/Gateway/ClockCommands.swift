import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway clock show`
struct ClockShow: ClientCommand {
    static let name = "show"
    static let summary = "Show the gateway's clock and whether deletions by age are paused"
    static let discussion = [
        """
        After a step of more than a day, deletions by age are paused until the clock is confirmed. It is confirmed when it \
        has run for clock.confirmation_hours without another step, when it steps back, or when an admin of 'system' runs \
        'clock confirm'.
        """
    ]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await ClockServiceClient(gateway).getClock(GetClockRequest()))
    }
}

extension GetClockResponse: Resource {
    package static let columns = ["now", "is_confirmed", "step_seconds", "remaining_seconds"]

    package var fields: [ResourceField] {
        [
            .time("now", now),
            ResourceField(name: "is_confirmed", json: .bool(isConfirmed), text: isConfirmed ? "yes" : "no"),
            .number("step_seconds", stepSeconds, shownAs: "\(stepSeconds)"),
            .number("remaining_seconds", remainingSeconds, shownAs: "\(remainingSeconds)"),
        ]
    }
}

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

import Basics

extension Logger {
    /// Logs that an event has become a dead letter.
    func writeDeadLetter(_ eventID: String, of webhook: String, because reason: String) {
        write(
            "an event could not be delivered and is a dead letter",
            ["event_id": eventID, "webhook": webhook, "why": reason], level: .warning)
    }

    /// Logs why the outbox could not be read or written; it is retried after a while.
    func writeDeliveryFailure(_ error: any Error) {
        write("events cannot be sent now", ["error": "\(error)"], level: .error)
    }
}

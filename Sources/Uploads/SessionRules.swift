import Basics

/// The rules for the end of an upload's session: a time after its last activity, and at most a longer time after its beginning. All
/// times are of the steady clock.
struct SessionRules: Sendable {
    let idle: Duration
    let total: Duration

    func end(beganAt: UnixTime, activeAt: UnixTime) -> UnixTime {
        min(activeAt.adding(idle), beganAt.adding(total))
    }

    /// Returns the new end of the session after activity now; `nil` if it would be later by less than a minute, or than a quarter
    /// of a short `idle`, which is not worth a write.
    func slide(_ upload: UploadRecord, at now: UnixTime) -> UnixTime? {
        let end = end(beganAt: upload.beganAt, activeAt: now)
        let worthwhile = min(Duration.seconds(60), idle / 4 + .seconds(1))
        return end.duration(since: upload.sessionEndsAt) >= worthwhile ? end : nil
    }
}

extension SessionRules {
    init(_ configuration: UploadsConfiguration) {
        self.init(idle: configuration.sessionIdle, total: configuration.sessionTotal)
    }
}

import Basics

/// When an upload's session ends: some time after its last activity, and some longer time after its beginning. All times
/// are of the steady clock.
struct SessionRules: Sendable {
    let idle: Duration
    let total: Duration

    func end(beganAt: UnixTime, activeAt: UnixTime) -> UnixTime {
        min(activeAt.adding(idle), beganAt.adding(total))
    }

    /// The end that activity now moves the session's to; `nil` where that is not worth a write: it would be later by
    /// less than a minute, or a quarter of a short `idle`.
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

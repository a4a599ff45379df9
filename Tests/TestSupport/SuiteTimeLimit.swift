import Foundation
package import Testing

extension Trait where Self == TimeLimitTrait {
    /// The time limit of every suite, for each of its tests, so that a hanging test fails by name and does not block the run.
    ///
    /// Thirty minutes: tests start together and then wait for a thread, so the limit has to cover a whole run on a busy machine.
    /// `TEST_MINUTES` raises it for runs that take longer by design, such as those under a sanitizer.
    package static var timeLimited: Self {
        let minutes = ProcessInfo.processInfo.environment["TEST_MINUTES"].flatMap { Int($0) }
        return .timeLimit(.minutes(minutes ?? 30))
    }
}

import Foundation
import Testing

extension Trait where Self == TimeLimitTrait {
    /// The time limit of every suite, for each of its tests: one that hangs fails by its name, and does not hold up the run.
    ///
    /// Thirty minutes: tests start together and then wait for a thread, so that the limit has to cover a whole run on a busy
    /// machine. `TEST_MINUTES` gives more to runs that take longer by design, such as those under a sanitizer.
    package static var timeLimited: Self {
        let minutes = ProcessInfo.processInfo.environment["TEST_MINUTES"].flatMap { Int($0) }
        return .timeLimit(.minutes(minutes ?? 30))
    }
}

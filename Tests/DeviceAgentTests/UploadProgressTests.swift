import DeviceClient
import TestSupport
import Testing

@testable import DeviceAgent

/// The progress of uploads, as `agent status` shows it.
@Suite(.timeLimited) struct UploadProgressTests {
    private struct Lost: Error, CustomStringConvertible {
        let description = "connection refused"
    }

    private let progress = UploadProgress()
    private let failed = UploadNotice.waiting(what: "part 2", reason: Lost(), delay: .seconds(1))

    @Test func failureOfStepIsNamedUntilBytesAreSent() {
        progress.begin("a", size: 100)
        progress.note(.moved(bytes: 60), "a")
        progress.note(failed, "a")
        progress.note(.moved(bytes: -60), "a")
        #expect(
            progress.current == [
                .init(file: "a", doneBytes: 0, sizeBytes: 100, message: "part 2 failed: connection refused")
            ])
        progress.note(.moved(bytes: 10), "a")
        #expect(progress.current == [.init(file: "a", doneBytes: 10, sizeBytes: 100)])
    }

    @Test func failureEndsWithAnswerOfTheStore() {
        progress.begin("a", size: 100)
        progress.note(failed, "a")
        progress.note(.position(acknowledged: 64, size: 100), "a")
        #expect(progress.current == [.init(file: "a", doneBytes: 64, sizeBytes: 100)])
        #expect(progress.end("a") == 100)
    }
}

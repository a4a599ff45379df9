import Basics
import HTTPClient
import TestSupport
import Testing

@testable import DeviceClient

/// The texts of errors in messages and logs: sentences, and never the structure of a type.
@Suite(.timeLimited) struct ErrorTextTests {
    @Test func errorsAreInterpolatedAsSentences() throws {
        let missing = try #require(
            #expect(throws: FileReader.Failure.self) { _ = try FileReader("/nowhere/a.mcap") })
        let errors: [any Error] = [
            DeviceFolder.Failure("cannot open a"), FileRefusal("a cannot be uploaded"), SourceFailure("a is no file"),
            SourceChange("a", "was modified"), SourceKept(message: "a was not deleted"),
            missing,
        ]
        #expect(
            errors.map { "\($0)" } == [
                "cannot open a", "a cannot be uploaded", "a is no file", "a was modified", "a was not deleted",
                "cannot read /nowhere/a.mcap: No such file or directory",
            ])
    }
}

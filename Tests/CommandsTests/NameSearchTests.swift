import TestSupport
import Testing

@testable import Commands

@Suite(.timeLimited) struct NameSearchTests {
    @Test(arguments: [
        ("robot*", "'name:*robot*' finds it anywhere in a name"),
        ("*robot", "'name:*robot*' finds it anywhere in a name"),
        ("name:robot", "'name:*robot*' finds it anywhere in a name"),
        ("name=robot*", "'name:*robot*' finds it anywhere in a name"),
        ("name:\"front camera\"", "'name:\"*front camera*\"' finds it anywhere in a name"),
        ("path:run_1", "'path:run_1/*' finds the files of a folder"),
        ("path:/run_1", "'path:run_1/*' finds the files of a folder"),
        ("path=bags/run_1/", "'path:bags/run_1/*' finds the files of a folder"),
        ("path:\"run 1\"", "'path:\"run 1/*\"' finds the files of a folder"),
    ])
    func filterThatFindsMoreIsNamed(filter: String, advice: String) {
        #expect(NameSearch.advice(for: filter) == "; \(advice)")
    }

    @Test func wildcardAfterAnEqualsSignIsExplained() {
        #expect(NameSearch.advice(for: "name=c*.bin") == "; '*' is a wildcard only after ':', as in 'name:c*.bin'")
    }

    @Test(arguments: [
        "", "*", "robot", "front_camera.png", "*robot*", "c*.bin", "name:c*.bin", "c*.bin*", "name:*robot*",
        "path:run_1/*", "path:*run_1*", "weather=rain", "a b",
        "size>1", "(a)", "it's",
        "name:\"a\\\"b\"",
    ])
    func otherFiltersGetNoAdvice(filter: String) {
        #expect(NameSearch.advice(for: filter).isEmpty)
    }
}

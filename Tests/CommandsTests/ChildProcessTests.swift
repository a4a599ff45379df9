import TestSupport
import Testing

@testable import Commands

@Suite(.timeLimited) struct ChildProcessTests {
    @Test func outputAndEnvironmentAreThoseOfTheProgram() throws {
        let child = try #require(
            ChildProcess.output(of: ["/bin/sh", "-c", "cat; echo $A; echo no >&2"], ["A": "b c"]))
        #expect(String(decoding: child.bytes, as: UTF8.self) == "b c\n")
        #expect(child.isSuccess)
    }

    @Test(arguments: ["exit 3", "kill -9 $$"])
    func otherEndIsNoSuccess(script: String) throws {
        let child = try #require(ChildProcess.output(of: ["/bin/sh", "-c", "echo a; \(script)"], [:]))
        #expect(child.bytes == Array("a\n".utf8) && !child.isSuccess)
    }

    @Test func outputMayBeLongerThanAPipe() throws {
        let child = try #require(ChildProcess.output(of: ["/usr/bin/head", "-c", "300000", "/dev/zero"], [:]))
        #expect(child.bytes.count == 300_000 && child.isSuccess)
    }

    @Test func missingProgramHasNoOutput() {
        #expect(ChildProcess.output(of: ["/nothing"], [:]) == nil)
    }
}

import CommandLineInterface
import TestSupport
import Testing

@testable import Commands

@Suite(.timeLimited) struct OrganizationArgumentTests {
    @Test(arguments: ["", " a", "a ", "a\nb", "a\u{7F}"])
    func organizationUnfitForAHeaderIsRefused(name: String) {
        #expect(throws: ArgumentProblem.self) { try OrganizationArgument(argument: name) }
    }
}

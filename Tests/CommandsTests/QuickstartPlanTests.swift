import CommandLineInterface
import Proto
import TestSupport
import Testing

@testable import Commands

/// The site and the suite that `quickstart` uses or creates.
@Suite(.timeLimited) struct QuickstartPlanTests {
    private static let sites = [Site(siteID: 1, name: "Depot"), Site(siteID: 2, name: "Other")]
    private static let suites = [
        DeviceSuite(name: "deviceSuites/1", siteID: 1, displayName: "Suite 1"),
        DeviceSuite(name: "deviceSuites/2", siteID: 1, displayName: "Arms"),
    ]

    private func plan(_ site: String?, _ suite: String?, of device: Device? = nil) throws -> String {
        let plan = try QuickstartPlan(
            site: site, suite: suite, of: device, sites: Self.sites, suites: Self.suites)
        let siteText = if case .existing(let site) = plan.site { "\(site.siteID)" } else { "new \(plan.siteTitle)" }
        if case .existing(let suite) = plan.suite { return "\(siteText), \(suite.name)" }
        return "\(siteText), new \(plan.suiteTitle)"
    }

    @Test(
        arguments: [
            (nil, nil, "new Site 1, new Suite 2"), ("Depot", nil, "1, deviceSuites/1"),
            ("1", "Arms", "1, deviceSuites/2"),
            ("2", nil, "2, new Suite 2"), ("Other", "Arms", "2, new Arms"), (nil, "Arms", "1, deviceSuites/2"),
            (nil, "2", "1, deviceSuites/2"), ("Plant", "Legs", "new Plant, new Legs"),
        ] as [(String?, String?, String)])
    func numberOrNameSelectsWhatExists(site: String?, suite: String?, expected: String) throws {
        #expect(try plan(site, suite) == expected)
    }

    @Test(
        arguments: [
            ("3", nil, "site 3 does not exist"), (nil, "9", "deviceSuites/9 does not exist"),
            ("2", "1", "deviceSuites/1 is at another site: give its --site, or none"),
            ("a\u{1}", nil, "--site must not contain control characters"),
            ("Depot", "b\u{7}", "--suite must not contain control characters"),
            ("Depot", "  ", "--suite must have a character other than spaces"),
        ] as [(String?, String?, String)])
    func nothingIsPlannedFromWrongNames(site: String?, suite: String?, message: String) {
        let failure = #expect(throws: ClientFailure.self) { try plan(site, suite) }
        #expect(failure?.message == message)
    }

    @Test func deviceStaysInItsSuite() throws {
        let device = Device(name: "devices/260427-000001", deviceID: "260427-000001", suite: "deviceSuites/2")
        #expect(try plan(nil, nil, of: device) == "1, deviceSuites/2")
        #expect(try plan("1", "Arms", of: device) == "1, deviceSuites/2")
        let failure = #expect(throws: ClientFailure.self) { try plan("Other", nil, of: device) }
        #expect(failure?.message.contains("260427-000001 is in deviceSuites/2") == true)
    }
}

import Accounts
import Platform
import RPC
import Testing

@testable import DeviceInit

@Suite struct InitializationRuleTests {
    /// Every state a device can be in, against the contract's precedence.
    @Test func theTableHolds() {
        let keys: [KeyUsability?] = [nil, .usable, .disabled, .expired, .siteDisabled]
        let sites: [Availability?] = [nil, .enabled, .disabled]
        for isBound in [false, true] {
            for isDisabled in [false, true] {
                for wasInitialized in [false, true] {
                    for site in sites {
                        for key in keys {
                            let device = device(
                                isBound: isBound, isDisabled: isDisabled, wasInitialized: wasInitialized)
                            let isReady =
                                isBound && !isDisabled && site == .enabled
                                && (key == .usable || key == nil && !wasInitialized)
                            let hadKey = wasInitialized || key != nil
                            #expect(
                                InitializationRule.refusal(of: .initialize, device, siteStatus: site, key: key)?.detail
                                    == (isReady ? hadKey ? .deviceAlreadyInitialized : nil : .deviceNotReady))
                            #expect(
                                InitializationRule.refusal(of: .reinitialize, device, siteStatus: site, key: key)?
                                    .detail
                                    == (isReady ? hadKey ? nil : .deviceNotInitialized : .deviceNotReady))
                        }
                    }
                }
            }
        }
    }

    private func device(isBound: Bool, isDisabled: Bool, wasInitialized: Bool) -> DeviceRecord {
        let time = UnixTime(seconds: 1)
        return DeviceRecord(
            id: "260427-000001", organizationID: 1, suiteID: isBound ? 1 : nil, siteID: isBound ? 1 : nil,
            displayName: "", description: "", tags: [:], isDisabled: isDisabled,
            initializedAt: wasInitialized ? time : nil, sdkVersion: "", platform: "", lastSeenAt: nil, createdAt: time,
            updatedAt: time)
    }

    @Test func assignedIDsAreOfTheDayAndRandom() throws {
        let now = UnixTime(seconds: 1_777_248_000)  // 2026-04-27T00:00:00Z
        let ids = try Set((0..<50).map { _ in try DeviceID.assigned(at: now).text })
        #expect(ids.allSatisfy { $0.hasPrefix("260427-") })
        #expect(ids.count > 40)
        #expect(try DeviceID.assigned(at: now.adding(seconds: -1)).text.hasPrefix("260426-"))
    }
}

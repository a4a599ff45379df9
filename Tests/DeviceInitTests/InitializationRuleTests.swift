import Accounts
import Basics
import GatewayAPI
import GatewayTesting
import RPC
import TestSupport
import Testing

@testable import DeviceInit

@Suite(.timeLimited) struct InitializationRuleTests {
    /// Compares every state of a device with the contract's precedence.
    @Test func tableDecidesEveryCase() {
        let keys: [KeyUsability?] = [nil, .usable, .disabled, .expired, .siteDisabled]
        let now = UnixTime(seconds: 2)
        let sites: [Availability?] = [nil, .enabled, .disabled]
        for isBound in [false, true] {
            for isDisabled in [false, true] {
                for wasInitialized in [false, true] {
                    for site in sites {
                        for key in keys {
                            let device = device(
                                isBound: isBound, isDisabled: isDisabled, wasInitialized: wasInitialized)
                            let state = key.map { DeviceKeys.State(usability: $0, lastUsedAt: now) }
                            let isReady =
                                isBound && !isDisabled && site == .enabled
                                && (key == .usable || key == nil && !wasInitialized)
                            let hadKey = wasInitialized || key != nil
                            #expect(
                                InitializationRule.refusal(
                                    of: .initialize, device, siteStatus: site, key: state, policy: .open, at: now)?
                                    .detail
                                    == (isReady ? hadKey ? .deviceAlreadyInitialized : nil : .deviceNotReady))
                            #expect(
                                InitializationRule.refusal(
                                    of: .reinitialize, device, siteStatus: site, key: state, policy: .open, at: now)?
                                    .detail
                                    == (isReady ? hadKey ? nil : .deviceNotInitialized : .deviceNotReady))
                        }
                    }
                }
            }
        }
    }

    @Test func theWindowIsOpenUntilTheKeyIsUsedAndWhileAnOperatorAllowsIt() {
        let now = UnixTime(seconds: 100)
        func detail(
            _ policy: ReinitPolicy, usedAt: UnixTime?, allowedUntil: UnixTime? = nil
        ) -> DetailCode? {
            let device = device(
                isBound: true, isDisabled: false, wasInitialized: true, reinitAllowedUntil: allowedUntil)
            return InitializationRule.refusal(
                of: .reinitialize, device, siteStatus: .enabled,
                key: DeviceKeys.State(usability: .usable, lastUsedAt: usedAt), policy: policy, at: now)?.detail
        }
        let used = UnixTime(seconds: 1)
        #expect(detail(.open, usedAt: used) == nil)
        #expect(detail(.window, usedAt: nil) == nil)
        #expect(detail(.window, usedAt: used) == .failedPrecondition)
        #expect(detail(.window, usedAt: used, allowedUntil: now) == .failedPrecondition)
        #expect(detail(.window, usedAt: used, allowedUntil: now.adding(seconds: 1)) == nil)
    }

    private func device(
        isBound: Bool, isDisabled: Bool, wasInitialized: Bool, reinitAllowedUntil: UnixTime? = nil
    ) -> DeviceRecord {
        let time = UnixTime(seconds: 1)
        return DeviceRecord(
            id: "260427-000001", organizationID: 1, suiteID: isBound ? 1 : nil, siteID: isBound ? 1 : nil,
            displayName: "", description: "", tags: [:], isDisabled: isDisabled,
            initializedAt: wasInitialized ? time : nil, sdkVersion: "", platform: "", lastSeenAt: nil,
            reinitAllowedUntil: reinitAllowedUntil, createdAt: time, updatedAt: time, addressSerial: nil)
    }

    @Test func assignedIDsAreOfTheDayAndRandom() throws {
        let now = UnixTime(seconds: 1_777_248_000)  // 2026-04-27T00:00:00Z
        let ids = try Set((0..<50).map { _ in try DeviceID.assigned(at: now).text })
        #expect(ids.allSatisfy { $0.hasPrefix("260427-") })
        #expect(ids.count > 40)
        #expect(try DeviceID.assigned(at: now.adding(seconds: -1)).text.hasPrefix("260426-"))
    }
}

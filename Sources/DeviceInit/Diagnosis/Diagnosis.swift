import Accounts
import Basics
import Database
import Proto
import RPC

/// Collects what is known of a device, and says why it is silent.
struct Diagnosis: Sendable {
    let database: Database
    let keys: DeviceKeys
    let uploads: any DeviceUploads
    let deferred: DeferredRecords
    let unprovenCalls: UnprovenCalls
    let clock: any WallClock

    /// Returns the diagnosis of a device of the caller's organization. Runs off the event loops, because it reads hundreds of
    /// uploads.
    func diagnose(_ device: DeviceRecord) async throws -> DeviceDiagnosis {
        let now = clock.now()
        let unproven = unprovenCalls.calls(naming: device.id)
        let pending = deferred.refusals(of: device.id)
        let facts = try await database.readInBackground { connection in
            let status = try keys.keyStatus(
                of: device.id, atSite: device.siteID ?? 0, organizationID: device.organizationID, at: now,
                in: connection)
            return DeviceFacts(
                device: device, siteStatus: status.siteStatus, key: status.key,
                refusals: RefusalRecord.merge(try RefusalRecords(connection).all(of: device.id), pending),
                unproven: unproven,
                uploads: try uploads.activity(ofDevice: device.id, in: connection), now: now)
        }
        return DeviceDiagnosis(facts)
    }
}

extension DeviceDiagnosis {
    init(_ facts: DeviceFacts) {
        let finding = DiagnosisRules.finding(facts)
        self.init(
            condition: finding.condition, sentence: finding.sentence,
            refusals: facts.refusals.map { refusal in
                RefusedDeviceCalls(
                    reason: refusal.reason, message: refusal.message, count: refusal.count,
                    firstAt: Timestamp(refusal.firstAt), lastAt: Timestamp(refusal.lastAt))
            },
            unprovenCalls: facts.unproven.map { calls in
                UnprovenDeviceCalls(
                    address: calls.address, reason: calls.reason, count: calls.count, lastAt: Timestamp(calls.lastAt))
            },
            failedUploads: facts.uploads.failures.map { failure in
                FailedDeviceUpload(
                    uploadID: failure.uploadID, fileName: failure.fileName, beganAt: Timestamp(failure.beganAt),
                    reason: failure.reason)
            }, clockOffsetSeconds: facts.clockOffset ?? 0)
    }
}

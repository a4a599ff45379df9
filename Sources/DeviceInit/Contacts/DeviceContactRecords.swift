import Accounts
import Basics
import Database

/// The record of devices' calls.
struct DeviceContactRecords: DeviceContacts {
    func noteSeen(_ deviceID: String, at time: UnixTime, in connection: Connection) throws {
        try DeviceRecords(connection).noteSeen(try DeviceID(deviceID), at: time)
    }

    func note(_ refusals: RefusalTally, _ reason: String, of deviceID: String, in connection: Connection) throws {
        try RefusalRecords(connection).add(refusals, reason, of: deviceID)
    }

    func noteClock(offset: Int64, of deviceID: String, at time: UnixTime, in connection: Connection) throws {
        try DeviceRecords(connection).noteClock(offset: offset, of: try DeviceID(deviceID), at: time)
    }
}

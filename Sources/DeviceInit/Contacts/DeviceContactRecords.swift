import Accounts
import Basics
import Database

/// The record of devices' calls.
struct DeviceContactRecords: DeviceContacts {
    func noteSeen(_ deviceID: String, at time: UnixTime, in connection: Connection) throws {
        try DeviceRecords(connection).noteSeen(try DeviceID(deviceID), at: time)
    }
}

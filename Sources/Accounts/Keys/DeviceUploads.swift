package import Basics
package import Database

/// The uploads of devices, implemented by the module of uploads, for the device registry.
package protocol DeviceUploads: Sendable {
    /// Aborts the uploads in progress of a device that is retired, and removes their data.
    ///
    /// - Parameter actor: the party that retired it, by its name in the audit log.
    func abort(
        ofDevice id: String, reason: String, by actor: String, at now: UnixTime, in connection: Connection
    ) throws

    /// Returns what is known of the device's latest uploads.
    func activity(ofDevice id: String, in connection: ReadConnection) throws -> DeviceUploadActivity

    /// The expression, in SQL, for the completion of the latest upload of the device `d.id` whose object exists; NULL without one.
    /// Its cost does not depend on the number of uploads.
    var latestUpload: String { get }
}

/// The uploads of a gateway that accepts none.
package struct NoDeviceUploads: DeviceUploads {
    package init() {}

    package func abort(
        ofDevice id: String, reason: String, by actor: String, at now: UnixTime, in connection: Connection
    ) {}

    package func activity(ofDevice id: String, in connection: ReadConnection) -> DeviceUploadActivity {
        DeviceUploadActivity()
    }

    package var latestUpload: String { "NULL" }
}

/// The latest uploads of a device.
package struct DeviceUploadActivity: Sendable, Hashable {
    /// An upload that was aborted, or of which nothing was received until its session ended.
    package struct Failure: Sendable, Hashable {
        package let uploadID: String
        /// Empty = the client did not name the file.
        package let fileName: String
        package let beganAt: UnixTime
        package let reason: String

        package init(uploadID: String, fileName: String, beganAt: UnixTime, reason: String) {
            self.uploadID = uploadID
            self.fileName = fileName
            self.beganAt = beganAt
            self.reason = reason
        }
    }

    /// The number of uploads in progress.
    package var inProgress = 0
    /// The beginning of the latest upload that was completed; `nil` = none is known.
    package var lastCompletedAt: UnixTime?
    /// The average number of completed uploads a day in the week before that one.
    package var completedPerDay = 0
    /// The latest failures, newest first.
    package var failures: [Failure] = []

    package init() {}
}

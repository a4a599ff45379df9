import Basics
package import Crypto

/// A backup that the gateway takes by itself again and again.
package struct BackupSchedule: Sendable {
    /// The name in metrics, in the log and at the beginning of archives' names: 1 to 32 of a-z, 0-9 and hyphens.
    package let name: String
    package let destination: any BackupDestination
    /// The time from one backup to the next; above 0.
    package var interval: Duration = .days(1)
    /// The time of day, in UTC, at which an interval begins.
    package var offset: Duration = .zero
    /// The number of archives that are kept; above 0.
    package var kept = 7
    /// Whether the archives contain the data of objects.
    package var includesObjects = true
    /// Whether each archive is read again when it is complete.
    package var verifies = true
    /// The passphrase that encrypts the archives; `nil` = they are not encrypted.
    package var passphrase: Secret?

    package init(name: String, destination: any BackupDestination) {
        self.name = name
        self.destination = destination
    }

    /// Returns whether a backup is due.
    ///
    /// Intervals are numbered, and each needs one backup. A clock that steps back or forth leads to another interval, so that it
    /// causes one more backup and never prevents one.
    ///
    /// - Parameter last: the start of the last complete backup; `nil` = no backup was completed.
    func isDue(at now: UnixTime, last: UnixTime?) -> Bool {
        guard let last else { return true }
        return number(of: now) != number(of: last)
    }

    /// Returns the name of the archive of a run.
    func archive(of run: Int64, at start: UnixTime) -> String {
        let time = CivilTime(start)
        return "\(name)-\(time.date(separator: ""))T\(time.clock(separator: ""))Z-\(run).backup"
    }

    private func number(of time: UnixTime) -> Int64 {
        let (quotient, remainder) = (time.seconds - offset.wholeSeconds)
            .quotientAndRemainder(dividingBy: max(1, interval.wholeSeconds))
        return remainder < 0 ? quotient - 1 : quotient
    }
}

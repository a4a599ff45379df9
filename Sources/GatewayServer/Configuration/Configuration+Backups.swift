import Backup
import Basics
import CopyJobs
import Crypto
import Foundation
import StoreClient
import StoreProtocol

extension Configuration {
    private static let mostSchedules = 16

    private enum BackupPlace: String, CaseIterable {
        case directory
        case oss
        case s3
    }

    /// Reads `backup.schedules`: the backups that the gateway takes by itself.
    static func backups(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> [BackupSchedule] {
        var schedules: [BackupSchedule] = []
        for var entry in try reader.entries("backup.schedules") {
            let schedule = try schedule(&entry)
            guard !schedules.contains(where: { $0.name == schedule.name }) else {
                throw entry.wrong("name", "must be unique, but another schedule has the same")
            }
            try entry.finish()
            schedules.append(schedule)
        }
        guard schedules.count <= mostSchedules else {
            throw ConfigurationError(
                "backup.schedules must have at most \(mostSchedules) entries, not \(schedules.count)",
                key: "backup.schedules")
        }
        return schedules
    }

    private static func schedule(_ entry: inout ConfigurationEntry) throws(ConfigurationError) -> BackupSchedule {
        let name = try entry.text("name")
        guard (1...32).contains(name.utf8.count), name.first != "-",
            name.utf8.allSatisfy({ $0.isASCIILowercaseAlphanumeric || $0 == UInt8(ascii: "-") })
        else {
            throw entry.wrong("name", "must be 1 to 32 of a-z, 0-9 and hyphens, and not begin with a hyphen")
        }
        let place = try entry.choice("kind", as: BackupPlace.self)
        var schedule = BackupSchedule(name: name, destination: try destination(place, &entry))
        schedule.interval = .seconds(
            60 * (try entry.integer("every_minutes", default: 1440, in: 1...525_600, unit: "minutes")))
        schedule.offset = try timeOfDay(&entry)
        schedule.kept = Int(try entry.integer("keep", default: 7, in: 1...1000, unit: "archives"))
        schedule.includesObjects = try entry.flag("objects", default: true)
        schedule.verifies = try entry.flag("verify", default: true)
        let file = try entry.text("passphrase_file", default: "")
        schedule.passphrase = file.isEmpty ? nil : try passphrase(file, entry)
        guard place == .directory || schedule.passphrase != nil else {
            throw entry.wrong(
                "passphrase_file", "is required for a bucket, because an archive contains the gateway's keys")
        }
        return schedule
    }

    private static func destination(
        _ place: BackupPlace, _ entry: inout ConfigurationEntry
    ) throws(ConfigurationError) -> any BackupDestination {
        let dialect: ClientRequest.Dialect
        switch place {
        case .directory: return BackupFolder(root: try folder(&entry).root)
        case .oss: dialect = .oss
        case .s3: dialect = .s3
        }
        let bucket = try bucket(&entry, dialect)
        let prefix = try entry.text("prefix", default: "")
        guard
            prefix.isEmpty
                || prefix.hasSuffix("/") && prefix.utf8.count <= 512 && ObjectName.isPortableKey(prefix + "x")
        else {
            throw entry.wrong(
                "prefix",
                "must be a prefix of object keys that ends with a slash, such as backups/, of at most 512 bytes")
        }
        return BackupBucket(
            StoreObject(
                endpoint: bucket.location.endpoint, region: bucket.location.region, bucket: bucket.location.bucket,
                key: prefix, dialect: dialect),
            credentials: bucket.credentials, partSize: bucket.partSize, authorities: bucket.authorities)
    }

    /// Reads `at`, e.g. `02:30`, in UTC.
    private static func timeOfDay(_ entry: inout ConfigurationEntry) throws(ConfigurationError) -> Duration {
        let text = try entry.text("at", default: "00:00")
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map { part in
            part.utf8.count == 2 && part.utf8.allSatisfy(\.isASCIIDigit) ? Int64(part) : nil
        }
        guard numbers.count == 2, let hours = numbers[0], let minutes = numbers[1], hours < 24, minutes < 60 else {
            throw entry.wrong("at", "must be a time of day in UTC such as 02:30")
        }
        return .seconds(hours * 3600 + minutes * 60)
    }

    /// Reads the first line of the file, like `data-gateway backup --passphrase-file`.
    private static func passphrase(
        _ path: String, _ entry: ConfigurationEntry
    ) throws(ConfigurationError) -> Secret {
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.contents(of: path)
        } catch {
            throw entry.wrong("passphrase_file", "cannot be read: \(error)")
        }
        guard let passphrase = Secret(firstLineOf: bytes, least: 8) else {
            throw entry.wrong(
                "passphrase_file", "must hold a passphrase of at least 8 bytes in its first line (\(path))")
        }
        return passphrase
    }
}

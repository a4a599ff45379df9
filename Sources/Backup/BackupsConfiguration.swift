import Basics
package import Capability
import Crypto
package import Settings
import StoreClient
import StoreProtocol

/// The settings of backups.
package struct BackupsConfiguration: CapabilitySettings {
    private static let mostSchedules = 16

    /// The backups that the gateway takes by itself.
    package var schedules: [BackupSchedule] = []

    /// Reads the section `backup`.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        let section = settings.section("backup")
        var names: Set<String> = []
        schedules = section.elements("schedules", bounds: "at most \(Self.mostSchedules) entries") { element in
            let schedule = BackupSchedule(element)
            if let name = schedule?.name, !names.insert(name).inserted {
                element.reject("name", "must be unique, but another schedule has the same")
            }
            return schedule
        }
        if schedules.count > Self.mostSchedules {
            section.reject(
                "schedules", "must have at most \(Self.mostSchedules) entries, not \(schedules.count)")
        }
    }
}

extension BackupSchedule {
    fileprivate init?(_ settings: SettingsReader) {
        let name = settings.text("name", bounds: "1–32 of `a-z 0-9 -`")
        if let name, !Self.isName(name) {
            settings.reject("name", "must be 1 to 32 of a-z, 0-9 and hyphens, and not begin with a hyphen")
        }
        guard let kind = settings.choice("kind", as: DestinationKind.self),
            let destination = Self.destination(kind, settings), let name
        else { return nil }
        self.init(name: name, destination: destination)
        interval = settings.duration("every_minutes", default: interval, in: 1...525_600, unit: .minutes)
        offset = Self.timeOfDay(settings)
        kept = settings.integer("keep", default: kept, in: 1...1000, unit: "archives")
        includesObjects = settings.flag("objects", default: includesObjects)
        verifies = settings.flag("verify", default: verifies)
        let file = settings.text("passphrase_file", default: "", unit: "path")
        if !file.isEmpty { passphrase = Self.passphrase(file, settings) }
        if kind != .directory, file.isEmpty {
            settings.reject(
                "passphrase_file", "is required for a bucket, because an archive contains the gateway's keys")
        }
    }

    private static func isName(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count) && name.first != "-"
            && name.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == UInt8(ascii: "-") }
    }

    private static func destination(
        _ kind: DestinationKind, _ settings: SettingsReader
    ) -> (any BackupDestination)? {
        guard let dialect = kind.dialect else { return settings.folder().map { BackupFolder(root: $0) } }
        guard let bucket = BucketSettings(settings, dialect) else { return nil }
        let prefix = settings.text("prefix", default: "", unit: "prefix of keys", bounds: "ends with `/`, 512 bytes")
        let isPrefix = prefix.hasSuffix("/") && prefix.utf8.count <= 512 && ObjectName.isPortableKey(prefix + "x")
        if !prefix.isEmpty, !isPrefix {
            settings.reject(
                "prefix",
                "must be a prefix of object keys that ends with a slash, such as backups/, of at most 512 bytes")
        }
        return BackupBucket(
            StoreObject(
                endpoint: bucket.endpoint, region: bucket.region, bucket: bucket.bucket, key: prefix, dialect: dialect),
            credentials: bucket.credentials, partSize: bucket.partSize, authorities: bucket.authorities)
    }

    /// Reads `at`, e.g. `02:30`, in UTC.
    private static func timeOfDay(_ settings: SettingsReader) -> Duration {
        let text = settings.text("at", default: "00:00", unit: "time in UTC", bounds: "`HH:MM`")
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map { part in
            part.utf8.count == 2 && part.utf8.allSatisfy(\.isASCIIDigit) ? Int64(part) : nil
        }
        guard numbers.count == 2, let hours = numbers[0], let minutes = numbers[1], hours < 24, minutes < 60 else {
            settings.reject("at", "must be a time of day in UTC such as 02:30")
            return .zero
        }
        return .seconds(hours * 3600 + minutes * 60)
    }

    /// Reads the first line of the file, like `data-gateway backup --passphrase-file`.
    private static func passphrase(_ path: String, _ settings: SettingsReader) -> Secret? {
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.contents(of: path)
        } catch {
            settings.reject("passphrase_file", "cannot be read: \(error)")
            return nil
        }
        guard let passphrase = Secret(firstLineOf: bytes, least: 8) else {
            settings.reject(
                "passphrase_file", "must hold a passphrase of at least 8 bytes in its first line (\(path))")
            return nil
        }
        return passphrase
    }
}

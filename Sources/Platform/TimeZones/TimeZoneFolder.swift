import Basics

/// The zones of a folder with compiled time zones, by their names, for example `Europe/Berlin`. Zones that were read stay in memory.
package final class TimeZoneFolder: Sendable {
    /// The folder of the system's time zones, which the package tzdata installs.
    package static let system = TimeZoneFolder("/usr/share/zoneinfo")

    private static let longestName = 64
    /// Files of the folder that are no zone of IANA, or that count leap seconds.
    private static let otherFiles: Set = ["Factory", "localtime", "posix", "posixrules", "right"]

    private let path: String
    private let zones = Lock<[String: TimeZoneRules]>(["UTC": .utc])

    package init(_ path: String) {
        self.path = path
    }

    /// Returns a zone. UTC is one without a file.
    package func zone(_ name: String) throws(TimeZoneError) -> TimeZoneRules {
        if let known = zones.withLock({ $0[name] }) { return known }
        guard Self.isName(name) else { throw .unknown }
        guard let bytes = (try? PrivateFile.read("\(path)/\(name)")) ?? nil else {
            throw (try? PrivateFile.exists(path)) == true ? .unknown : .noZones(folder: path)
        }
        guard let zone = TimeZoneFile.parse(bytes, name: name) else { throw .unknown }
        zones.withLock { $0[name] = zone }
        return zone
    }

    private static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return name.utf8.count <= longestName && !otherFiles.contains(String(parts[0]))
            && parts.allSatisfy { part in
                part.utf8.first?.isASCIILetter == true
                    && part.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_+-".utf8.contains($0) }
            }
    }
}

/// The reason why a name is no time zone.
package enum TimeZoneError: Error, Sendable, Hashable {
    case unknown
    /// The folder with all zones is missing.
    case noZones(folder: String)
}

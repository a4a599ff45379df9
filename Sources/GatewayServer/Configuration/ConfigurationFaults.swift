import Basics

/// Everything that is wrong with a configuration, not only what is found first.
package enum ConfigurationFaults {
    package struct Fault: Sendable, Hashable {
        /// One sentence without a full stop.
        package let message: String
        package let key: String?
        /// The line of the key in the file, from 1; `nil` = it is not in the file.
        package let line: Int?
    }

    /// The most faults that are looked for.
    private static let most = 100

    /// The sections whose members have names of their own, which only reading them can judge.
    private static let namedSections = ["webhooks", "object_store.buckets"]

    /// Reads the configuration again and again, each time without the keys whose faults are known. A fault that belongs to no key ends
    /// that; unknown keys are found nevertheless.
    ///
    /// - Returns: the faults in the order of the file's lines; empty where the gateway would start.
    package static func all(_ options: ServeOptions, variables: [String: String]) -> [Fault] {
        func fault(_ error: ConfigurationError) -> Fault {
            Fault(message: error.description, key: error.key, line: error.key.flatMap { line(of: $0, in: lines) })
        }
        let lines = options.configurationPath.flatMap { try? ConfigurationFile(path: $0).lines } ?? [:]
        var faults: [Fault] = []
        var ignored: Set<String> = []
        while faults.count < most {
            do {
                _ = try Configuration(options, variables: variables, ignoring: ignored)
                break
            } catch {
                guard !faults.contains(where: { $0.message == error.description }) else { break }
                faults.append(fault(error))
                // A fault in an entry of a list leaves out the whole list.
                let key = error.key.map { String($0.prefix { $0 != "[" }) }
                guard let key, ignored.insert(key).inserted else { break }
            }
        }
        let found = Set(faults.map(\.key))
        faults += unknownKeys(options, variables).map(fault).filter { !found.contains($0.key) }
        return faults.sorted { ($0.line ?? 0, $0.message) < ($1.line ?? 0, $1.message) }
    }

    private static func unknownKeys(_ options: ServeOptions, _ variables: [String: String]) -> [ConfigurationError] {
        guard let known = try? Configuration(ServeOptions()).settings.map(\.key),
            var reader = try? ConfigurationReader(
                path: options.configurationPath, variables: variables, options: options.settings)
        else { return [] }
        reader.openSections(of: known)
        return reader.unknown(among: known, except: namedSections)
    }

    /// The line of a key; of what it is in, where the key itself is missing.
    private static func line(of key: String, in lines: [String: Int]) -> Int? {
        var place = key[...]
        while true {
            if let line = lines[String(place)] { return line }
            guard let end = place.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            place = place[..<end]
        }
    }
}

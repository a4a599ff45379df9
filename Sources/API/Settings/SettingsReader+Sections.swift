extension SettingsReader {
    /// Returns the reader of a section inside this one; `apps.NAME` is a section inside a section.
    package func section(_ path: String) -> SettingsReader {
        var inner = self
        for name in path.split(separator: ".") {
            let key = inner.key(String(name))
            source.open(key)
            inner = SettingsReader(source, at: key)
        }
        return inner
    }

    /// Returns the reader of an object in a member of a list; `nil` if it is not set.
    package func object(_ name: String) -> SettingsReader? {
        let key = key(name)
        guard contains(name) else { return nil }
        source.addMember(key)
        source.open(key, or: "must be an object: { … }")
        return SettingsReader(source, at: key)
    }

    /// Reads a list of objects; empty if it is not set. A variable contains it as JSON5.
    ///
    /// - Parameter read: reads an element; `nil` after a fault without which it cannot be read further.
    package func elements<Element>(
        _ name: String, bounds: String = "", _ read: (SettingsReader) -> Element?
    ) -> [Element] {
        let key = key(name)
        let rule = ConfigurationSetting.Rule(unit: "list of objects", standard: "none", bounds: bounds)
        let value = source.take(
            key, rule,
            summary: { value in
                guard case .list(let elements) = value else { return nil }
                return elements.count == 1 ? "1 entry" : "\(elements.count) entries"
            }, readingText: ConfigurationValue.init(json5:))
        guard let value, let origin = source.given[key]?.source else { return [] }
        guard case .list(let elements) = value else {
            reject(name, "must be a list of objects")
            return []
        }
        return elements.enumerated().compactMap { index, element in
            member("\(name)[\(index)]", element, origin).flatMap { reader in self.read(reader, read) }
        }
    }

    /// Reads an object of named objects, sorted by name; empty if it is not set. A variable contains it as JSON5.
    ///
    /// - Parameter read: as for ``elements(_:bounds:_:)``.
    package func table<Element>(
        _ name: String, bounds: String = "", _ read: (_ name: String, SettingsReader) -> Element?
    ) -> [Element] {
        let key = key(name)
        let rule = ConfigurationSetting.Rule(unit: "object of objects", standard: "none", bounds: bounds)
        let value = source.take(
            key, rule,
            summary: { value in
                guard case .object(let members) = value else { return nil }
                return members.keys.sorted().joined(separator: ", ")
            }, readingText: ConfigurationValue.init(json5:))
        guard let value, let origin = source.given[key]?.source else { return [] }
        guard case .object(let members) = value else {
            reject(name, "must be an object: { … }")
            return []
        }
        return members.sorted { $0.key < $1.key }.compactMap { member, element in
            self.member("\(name).\(member)", element, origin).flatMap { reader in self.read(reader) { read(member, $0) }
            }
        }
    }

    /// Reads a section whose members are sections of their own, sorted by name: their keys are `section.NAME.key`, also in
    /// variables. Names in the file may have dots.
    ///
    /// - Parameter read: as for ``elements(_:bounds:_:)``.
    package func named<Element>(
        _ section: String, _ read: (_ name: String, SettingsReader) -> Element?
    ) -> [Element] {
        let outer = self.section(section)
        return names(in: outer.place).compactMap { name in
            self.read(SettingsReader(source, at: "\(outer.place).\(name)")) { read(name, $0) }
        }
    }

    private func names(in place: String) -> [String] {
        var names: Set<String> = []
        let members = source.given.filter { $0.key.hasPrefix("\(place).") }
        for (key, member) in members {
            // A variable sets a member; the file contains the section around it.
            guard case .object = member.value else { continue }
            names.insert(String(key.dropFirst(place.count + 1)))
            source.open(key)
        }
        for (key, member) in members {
            if case .object = member.value { continue }
            let rest = key.dropFirst(place.count + 1)
            let isInFile = rest.indices.contains { rest[$0] == "." && names.contains(String(rest[..<$0])) }
            guard !isInFile else { continue }
            let name = rest.prefix { $0 != "." }
            if name == rest { source.open(key) } else { names.insert(String(name)) }
        }
        return names.sorted()
    }

    /// Returns the reader of an object in a list; `nil` if it is no object.
    private func member(
        _ name: String, _ value: ConfigurationValue, _ origin: ConfigurationSource
    ) -> SettingsReader? {
        guard case .object(let members) = value else {
            reject(name, "must be an object: { … }")
            return nil
        }
        let key = key(name)
        source.addMember(key)
        source.add(members, at: key, from: origin)
        return SettingsReader(source, at: key)
    }

    private func read<Element>(_ reader: SettingsReader, _ read: (SettingsReader) -> Element?) -> Element? {
        guard let element = read(reader) else {
            source.abandon(reader.place)
            return nil
        }
        return element
    }
}

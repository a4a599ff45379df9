import Basics

extension FilterParser {
    mutating func term() throws(FilterError) -> ObjectFilter.Term {
        let start = scanner.position
        if scanner.byte == UInt8(ascii: "\"") {
            let text = try scanner.quoted()
            skipSpacesBeforeOperator()
            if scanner.isAtOperator { return .steady(.tag(key: try key(text, at: start), value: try tagValue())) }
            return try word(text, at: start)
        }
        if let key = try rawTag() { return .steady(.tag(key: key, value: try tagValue())) }
        let name = scanner.word()
        guard !name.isEmpty else { throw scanner.failure("a term") }
        skipSpacesBeforeOperator()
        if name == Self.begins, scanner.skip(":") { return .steady(.begins(try beginning())) }
        if name == Self.folder, scanner.skip(":") { return .steady(.folder(try folder())) }
        guard let field = FilterField(rawValue: name), !newFields.contains(field) else {
            if FilterField(rawValue: name) != nil, scanner.isAtOperator { oldTags.append(start) }
            if scanner.byte == UInt8(ascii: "=") { return .steady(.tag(key: name, value: try tagValue())) }
            guard !scanner.isAtOperator else {
                throw scanner.failure("\(FilterField.list) or KEY=VALUE", at: start)
            }
            return try word(name, at: start)
        }
        guard scanner.isAtOperator else {
            throw scanner.failure("an operator after \"\(name)\" (to search for the word, write it in quotes)")
        }
        return try term(of: field)
    }

    private mutating func term(of field: FilterField) throws(FilterError) -> ObjectFilter.Term {
        switch field {
        case .status:
            try equality()
            let (value, at) = try value()
            guard value == "verified" else { throw scanner.failure("\"verified\"", at: at) }
            return .steady(.isVerified)
        case .trashed:
            try equality()
            let (value, at) = try value()
            guard let isTrashed = Bool(value) else { throw scanner.failure("true or false", at: at) }
            return .steady(.trashed(isTrashed))
        case .device: return .steady(.device(try pattern()))
        case .contentType: return .steady(.contentType(try pattern()))
        case .path: return .steady(.path(try pattern()))
        case .name: return .steady(.name(try pattern().lowercased))
        case .objectID:
            try equality()
            return .steady(.objectID(try value().text))
        case .site:
            try equality()
            return .steady(.site(try value("the number of a site", FilterQuantity.number)))
        case .size:
            let comparison = try comparison()
            let size = try value("a size such as 1048576 or 1MiB", ByteQuantity.bytes)
            return .steady(.size(comparison.interval(first: size, next: size + 1)))
        case .created: return try time(.created)
        case .recorded: return try time(.recorded)
        case .recordedFrom: return try time(.recordedFrom)
        case .recordedTo: return try time(.recordedTo)
        case .age:
            let at = scanner.position
            let comparison = try comparison()
            guard comparison != .equal else { throw scanner.failure("<, <=, > or >=", at: at) }
            let age = try value("an age such as 90s, 15m, 12h, 7d or 2w", FilterQuantity.age)
            return .age(comparison.interval(first: age, next: age + 1))
        case .topic: return .steady(.topic(try pattern()))
        }
    }

    /// Reads the comparison with a time or with days.
    private mutating func time(_ field: ObjectFilter.TimeField) throws(FilterError) -> ObjectFilter.Term {
        let comparison = try comparison()
        let (text, at): (String, Int)
        if let days = lastDays() { (text, at) = days } else { (text, at) = try value() }
        if let time = FilterQuantity.time(text) {
            return .steady(field.term(comparison.interval(first: time.first, next: time.next)))
        }
        if let day = FilterQuantity.date(text) { return .days(field, comparison, .date(day)) }
        guard let days = FilterQuantity.relativeDays(text) else {
            throw scanner.failure(
                "a date or time such as 2026-01-31 or 2026-01-31T08:00:00Z, today, yesterday or \"last 7 days\"", at: at
            )
        }
        if relativeDays == nil { relativeDays = (at, text) }
        return .days(field, comparison, .relative(days))
    }

    /// Reads `last 7 days` without quotes; returns `nil`, without moving, if something else comes next.
    private mutating func lastDays() -> (text: String, position: Int)? {
        var ahead = scanner
        var words: [String] = []
        for _ in 0..<3 {
            words.append(ahead.bareValue())
            if words.count < 3 { ahead.skipSpaces() }
        }
        let text = words.joined(separator: " ")
        guard words[0].lowercased() == "last", FilterQuantity.relativeDays(text) != nil else { return nil }
        defer { scanner = ahead }
        return (text, scanner.position)
    }

    /// Reads the key of `raw_tags.KEY`; `nil` if another name comes next.
    private mutating func rawTag() throws(FilterError) -> String? {
        let prefix = Self.rawTags
        var ahead = scanner
        let name = ahead.tagKey()
        guard name == prefix || name.hasPrefix(prefix + ".") else { return nil }
        scanner.skip(bytes: prefix.utf8.count)
        guard scanner.skip(".") else { throw scanner.failure("a dot and the key of a tag") }
        let start = scanner.position
        let key = scanner.byte == UInt8(ascii: "\"") ? try scanner.quoted() : scanner.tagKey()
        skipSpacesBeforeOperator()
        if scanner.byte == UInt8(ascii: " ") || scanner.byte == UInt8(ascii: "\"") {
            throw scanner.failure("an operator (a key with a space or a quote is written in quotes)")
        }
        return try self.key(key, at: start)
    }

    private func key(_ key: String, at start: Int) throws(FilterError) -> String {
        guard !key.isEmpty else { throw scanner.failure("the key of a tag", at: start) }
        return key
    }

    private mutating func tagValue() throws(FilterError) -> String {
        try equality()
        return try value().text
    }

    /// Makes the term of a word, of the beginning of a text with a `*` after it, or of a name with other `*`.
    private mutating func word(_ text: String, at start: Int) throws(FilterError) -> ObjectFilter.Term {
        let text = scanner.skip("*") ? text + "*" : text
        guard let pattern = ObjectFilter.Pattern(text)?.lowercased, pattern != .text("") else {
            throw scanner.failure("a word", at: start)
        }
        words.append(Word(position: start, text: text, hasStar: text.contains("*")))
        switch pattern {
        case .text(let word): return .steady(.word(word))
        case .prefix(let beginning): return .steady(.begins(beginning))
        case .suffix, .part, .pieces: return .steady(.name(pattern))
        }
    }

    /// Reads the value of `begins:`. A `*` after it changes nothing.
    private mutating func beginning() throws(FilterError) -> String {
        scanner.skipSpaces()
        let (text, at) = try value(allowsStar: true)
        _ = scanner.skip("*")
        let word = text.last == "*" ? String(text.dropLast()) : text
        guard !word.isEmpty else { throw scanner.failure("a word", at: at) }
        return word.lowercasedByScalar
    }

    /// Reads the value of `folder:`. A `/` after it changes nothing.
    private mutating func folder() throws(FilterError) -> String {
        scanner.skipSpaces()
        let (text, at) = try value()
        let path = text.last == "/" ? String(text.dropLast()) : text
        guard let folder = RelativePath(path) else {
            throw scanner.failure("the path of a folder, such as run7/cameras", at: at)
        }
        return folder.text
    }

    private mutating func comparison() throws(FilterError) -> ObjectFilter.Comparison {
        let comparison = try comparisonOperator()
        scanner.skipSpaces()
        return comparison
    }

    private mutating func comparisonOperator() throws(FilterError) -> ObjectFilter.Comparison {
        if scanner.skip(":") || scanner.skip("=") { return .equal }
        if scanner.skip("<") { return scanner.skip("=") ? .lessOrEqual : .less }
        if scanner.skip(">") { return scanner.skip("=") ? .greaterOrEqual : .greater }
        throw scanner.failure("one of : = < <= > >=")
    }

    private mutating func equality() throws(FilterError) {
        let start = scanner.position
        guard try comparison() == .equal else {
            throw scanner.failure("\":\" or \"=\" (only numbers and times have an order)", at: start)
        }
    }

    /// Reads a value; after `:`, each `*` matches any characters.
    private mutating func pattern() throws(FilterError) -> ObjectFilter.Pattern {
        let isPattern = scanner.byte == UInt8(ascii: ":")
        try equality()
        let isQuoted = scanner.byte == UInt8(ascii: "\"")
        let (text, at) = try value(allowsStar: isPattern)
        guard isPattern else { return .text(text) }
        guard let pattern = ObjectFilter.Pattern(text) else {
            throw scanner.failure(
                "characters beside \"*\" (a term that matches everything can be left out)", at: isQuoted ? at + 1 : at)
        }
        return pattern
    }

    private mutating func value<T>(_ expected: String, _ read: (String) -> T?) throws(FilterError) -> T {
        let (text, at) = try value()
        guard let value = read(text) else { throw scanner.failure(expected, at: at) }
        return value
    }

    /// Reads a value and its position.
    ///
    /// - Parameter allowsStar: whether a `*` after a quoted value belongs to it.
    private mutating func value(allowsStar: Bool = false) throws(FilterError) -> (text: String, position: Int) {
        let start = scanner.position
        if scanner.byte == UInt8(ascii: "\"") {
            var value = try scanner.quoted()
            if allowsStar, value.last != "*", scanner.skip("*") { value += "*" }
            return (value, start)
        }
        let value = scanner.bareValue()
        if scanner.byte == UInt8(ascii: "\"") {
            throw scanner.failure("a space (a value with a quote is written in quotes)")
        }
        guard scanner.position > start else {
            throw scanner.failure("a value")
        }
        return (value, start)
    }

    /// Skips spaces if an operator follows them, as in `weather = rain`.
    private mutating func skipSpacesBeforeOperator() {
        var ahead = scanner
        ahead.skipSpaces()
        if ahead.isAtOperator { scanner = ahead }
    }
}

/// The field names of terms. `KEY=VALUE` with any other name compares the tag of that key.
enum FilterField: String, CaseIterable {
    case status, device, site, size, created, recorded, age, name, path, topic, trashed
    case objectID = "object_id"
    case contentType = "content_type"
    case recordedFrom = "recorded_from"
    case recordedTo = "recorded_to"

    /// All names in quotes, separated by commas.
    static let list =
        (["\(FilterParser.rawTags).KEY", FilterParser.begins, FilterParser.folder]
        + allCases.map(\.rawValue)).joined(separator: ", ")
}

import Basics
import JSON
import Protobuf

/// Reads JSON into the encoded form of a message.
struct JSONMessageReader {
    private var scanner: JSONScanner
    private let schema: Schema
    private let ignoresUnknownFields: Bool

    init(_ text: [UInt8], schema: Schema, ignoresUnknownFields: Bool) {
        scanner = JSONScanner(text, .message)
        self.schema = schema
        self.ignoresUnknownFields = ignoresUnknownFields
    }

    mutating func document(of fullName: String) throws(JSONError) -> [UInt8] {
        let bytes = try message(of: fullName)
        try scanner.expectEnd()
        return bytes
    }

    private mutating func message(of fullName: String) throws(JSONError) -> [UInt8] {
        if let type = WellKnownType(rawValue: fullName) { return try wellKnown(type) }
        return try fields(of: fullName, except: nil)
    }

    /// - Parameter special: a member to skip: the `@type` of an `Any`.
    private mutating func fields(of fullName: String, except special: String?) throws(JSONError) -> [UInt8] {
        guard let message = schema.messages[fullName] else { throw scanner.error(.unknownType) }
        var output: [UInt8] = []
        var seen: Set<Int> = []
        var oneofs: Set<Int32> = []
        var isFirst = true
        try scanner.beginObject()
        while let name = try scanner.nextMember(&isFirst) {
            guard let index = message.index(ofName: name) else {
                guard name == special || ignoresUnknownFields else { throw scanner.error(.unknownField, field: name) }
                try scanner.skip()
                continue
            }
            guard seen.insert(index).inserted else { throw scanner.error(.duplicateField, field: name) }
            let field = message.fields[index]
            if !Self.acceptsNull(field), scanner.take(word: "null") { continue }
            if let oneof = field.oneof, !oneofs.insert(oneof).inserted {
                throw scanner.error(.duplicateField, field: name)
            }
            do throws(JSONError) {
                try self.field(field, to: &output)
            } catch {
                throw JSONError(error.reason, at: error.offset, field: error.field ?? name)
            }
        }
        return output
    }

    /// Whether `null` is a value of the field. For all other fields it means that they are not set.
    private static func acceptsNull(_ field: FieldSchema) -> Bool {
        !field.isRepeated
            && (field.typeName == WellKnownType.nullValue || field.typeName == WellKnownType.value.rawValue)
    }

    private mutating func field(_ field: FieldSchema, to output: inout [UInt8]) throws(JSONError) {
        if field.isMap {
            try map(field, to: &output)
        } else if field.isRepeated {
            var packed: [UInt8] = []
            var elements: [UInt8] = []
            var isFirst = true
            try scanner.beginArray()
            while try scanner.nextElement(&isFirst) {
                guard let value = try value(field.kind, field.typeName) else { continue }
                if field.isPacked { packed.append(payload: value) } else { elements.append(field: field.tag, value) }
            }
            output += elements
            if !packed.isEmpty { output.append(field: field.number << 3 | WireType.delimited, .delimited(packed)) }
        } else if let value = try value(field.kind, field.typeName), field.hasPresence || !value.isInitial {
            output.append(field: field.tag, value)
        }
    }

    private mutating func map(_ field: FieldSchema, to output: inout [UInt8]) throws(JSONError) {
        guard let entry = schema.messages[field.typeName], entry.fields.count == 2 else {
            throw scanner.error(.unknownType)
        }
        let (keyField, valueField) = (entry.fields[0], entry.fields[1])
        var entries: [UInt8] = []
        var isFirst = true
        try scanner.beginObject()
        while let text = try scanner.nextMember(&isFirst) {
            guard let key = Self.key(text, keyField.kind) else { throw scanner.error(.invalidValue) }
            guard let value = try value(valueField.kind, valueField.typeName) else { continue }
            var bytes: [UInt8] = []
            bytes.append(field: keyField.tag, key)
            bytes.append(field: valueField.tag, value)
            entries.append(field: field.tag, .delimited(bytes))
        }
        output += entries
    }

    private static func key(_ text: String, _ kind: FieldSchema.Kind) -> WireValue? {
        switch kind {
        case .string: .delimited([UInt8](text.utf8))
        case .bool: text == "true" ? .varint(1) : text == "false" ? .varint(0) : nil
        default: JSONNumber.wireValue(text[...], kind)
        }
    }

    // MARK: Values

    /// Returns `nil` for an unknown name of an enum value if unknown names are ignored.
    private mutating func value(_ kind: FieldSchema.Kind, _ typeName: String) throws(JSONError) -> WireValue? {
        switch kind {
        case .message: return .delimited(try message(of: typeName))
        case .enum: return try enumValue(typeName)
        case .bool: return .varint(try scanner.bool() ? 1 : 0)
        case .string: return .delimited([UInt8](try string().utf8))
        case .bytes:
            guard let bytes = Base64.decodeAny(Array(try string().utf8)) else { throw scanner.error(.invalidValue) }
            return .delimited(bytes)
        case .group, .unrecognized: throw scanner.error(.unknownType)
        default:
            let text = scanner.next(is: "\"") ? Substring(try scanner.string()) : try scanner.number()
            guard let value = JSONNumber.wireValue(text, kind) else { throw scanner.error(.invalidValue) }
            return value
        }
    }

    private mutating func string() throws(JSONError) -> String {
        guard scanner.next(is: "\"") else { throw scanner.error(.invalidValue) }
        return try scanner.string()
    }

    private mutating func enumValue(_ typeName: String) throws(JSONError) -> WireValue? {
        if typeName == WellKnownType.nullValue, scanner.take(word: "null") { return .varint(0) }
        guard scanner.next(is: "\"") else {
            guard let value = JSONNumber.wireValue(try scanner.number(), .int32) else {
                throw scanner.error(.invalidValue)
            }
            return value
        }
        let name = try scanner.string()
        if let number = schema.enums[typeName]?.number(of: name) { return .varint(UInt64(bitPattern: Int64(number))) }
        guard ignoresUnknownFields else { throw scanner.error(.invalidValue) }
        return nil
    }
}

// MARK: Well-known types

extension JSONMessageReader {
    private mutating func wellKnown(_ type: WellKnownType) throws(JSONError) -> [UInt8] {
        var output: [UInt8] = []
        switch type {
        case .any: return try any()
        case .timestamp, .duration:
            let text = try string()
            let parsed = type == .timestamp ? TimeText.parseTimestamp(text) : TimeText.parseDuration(text)
            guard let (seconds, nanos) = parsed else { throw scanner.error(.invalidValue) }
            if seconds != 0 { output.append(field: 1 << 3, .varint(UInt64(bitPattern: seconds))) }
            if nanos != 0 { output.append(field: 2 << 3, .varint(UInt64(bitPattern: Int64(nanos)))) }
        case .fieldMask:
            let text = try string()
            for path in text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let path = FieldMaskText.snake(String(path)) else { throw scanner.error(.invalidValue) }
                output.append(field: ValueTag.entries, .delimited([UInt8](path.utf8)))
            }
        case .structure: return try structure()
        case .list: return try list()
        case .value: return try dynamicValue()
        case .boolValue, .bytesValue, .doubleValue, .floatValue, .int32Value, .int64Value, .stringValue, .uint32Value,
            .uint64Value:
            guard let kind = type.wrapped, let value = try value(kind, "") else { break }
            if !value.isInitial { output.append(field: 1 << 3 | kind.wireType, value) }
        }
        return output
    }

    private mutating func structure() throws(JSONError) -> [UInt8] {
        var output: [UInt8] = []
        var isFirst = true
        try scanner.beginObject()
        while let name = try scanner.nextMember(&isFirst) {
            var entry: [UInt8] = []
            entry.append(field: ValueTag.key, .delimited([UInt8](name.utf8)))
            entry.append(field: ValueTag.value, .delimited(try dynamicValue()))
            output.append(field: ValueTag.entries, .delimited(entry))
        }
        return output
    }

    private mutating func list() throws(JSONError) -> [UInt8] {
        var output: [UInt8] = []
        var isFirst = true
        try scanner.beginArray()
        while try scanner.nextElement(&isFirst) {
            output.append(field: ValueTag.entries, .delimited(try dynamicValue()))
        }
        return output
    }

    /// Reads a `google.protobuf.Value`, which is any JSON value.
    private mutating func dynamicValue() throws(JSONError) -> [UInt8] {
        var output: [UInt8] = []
        switch scanner.peek() {
        case UInt8(ascii: "{"): output.append(field: ValueTag.structure, .delimited(try structure()))
        case UInt8(ascii: "["): output.append(field: ValueTag.list, .delimited(try list()))
        case UInt8(ascii: "\""):
            output.append(field: ValueTag.string, .delimited([UInt8](try scanner.string().utf8)))
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            output.append(field: ValueTag.bool, .varint(try scanner.bool() ? 1 : 0))
        case UInt8(ascii: "n"):
            guard scanner.take(word: "null") else { throw scanner.error(.syntax) }
            output.append(field: ValueTag.null, .varint(0))
        default:
            guard let number = JSONNumber.wireValue(try scanner.number(), .double) else {
                throw scanner.error(.invalidValue)
            }
            output.append(field: ValueTag.number, number)
        }
        return output
    }

    /// Reads an `Any`. The member with the type may be anywhere, so the object is first searched for it.
    private mutating func any() throws(JSONError) -> [UInt8] {
        var probe = scanner
        var url: String?
        var isEmpty = true
        var isFirst = true
        try probe.beginObject()
        while let name = try probe.nextMember(&isFirst) {
            isEmpty = false
            guard name == "@type" else {
                try probe.skip()
                continue
            }
            guard url == nil else { throw probe.error(.duplicateField, field: name) }
            guard probe.next(is: "\"") else { throw probe.error(.invalidValue, field: name) }
            url = try probe.string()
        }
        if isEmpty {
            scanner = probe
            return []
        }
        guard let url, let name = WellKnownType.name(ofTypeURL: url) else { throw scanner.error(.unknownType) }
        let value: [UInt8]
        if WellKnownType(rawValue: name) == nil {
            value = try fields(of: name, except: "@type")
        } else {
            value = try wrappedAny(name)
        }
        var output: [UInt8] = []
        output.append(field: 1 << 3 | WireType.delimited, .delimited([UInt8](url.utf8)))
        if !value.isEmpty { output.append(field: 2 << 3 | WireType.delimited, .delimited(value)) }
        return output
    }

    /// Reads an `Any` whose type has its own JSON form, which is in the member `value`.
    private mutating func wrappedAny(_ name: String) throws(JSONError) -> [UInt8] {
        var value: [UInt8]?
        var isFirst = true
        try scanner.beginObject()
        while let member = try scanner.nextMember(&isFirst) {
            switch member {
            case "@type": try scanner.skip()
            case "value" where value == nil: value = try message(of: name)
            case "value": throw scanner.error(.duplicateField, field: member)
            default:
                guard ignoresUnknownFields else { throw scanner.error(.unknownField, field: member) }
                try scanner.skip()
            }
        }
        guard let value else { throw scanner.error(.invalidValue, field: "value") }
        return value
    }
}

import Basics
import JSON
import Protobuf

/// Writes an encoded message as JSON.
struct JSONMessageWriter {
    private(set) var output: [UInt8] = []
    private let schema: Schema
    private let format: JSONFormat
    private var depthLeft = ProtobufReader.depthLimit

    init(schema: Schema, format: JSONFormat) {
        self.schema = schema
        self.format = format
    }

    mutating func message(_ bytes: [UInt8], of fullName: String) throws(JSONError) {
        guard depthLeft > 0 else { throw JSONError(.tooDeep) }
        depthLeft -= 1
        let message = try decoded(bytes, of: fullName)
        if let type = WellKnownType(rawValue: fullName) {
            try wellKnown(type, message)
        } else {
            put("{")
            var isFirst = true
            try members(of: message, isFirst: &isFirst)
            put("}")
        }
        depthLeft += 1
    }

    private func decoded(_ bytes: [UInt8], of fullName: String) throws(JSONError) -> EncodedMessage {
        guard let message = schema.messages[fullName] else { throw JSONError(.unknownType) }
        do throws(DecodingError) {
            return try EncodedMessage(bytes, of: message)
        } catch {
            throw JSONError(.notRepresentable)
        }
    }

    private mutating func members(of message: EncodedMessage, isFirst: inout Bool) throws(JSONError) {
        for (index, field) in message.schema.fields.enumerated() {
            let name = format.usesProtoNames ? field.name : field.jsonName
            do throws(JSONError) {
                if field.isRepeated {
                    if message.values[index].isEmpty && format.unset == .omitted { continue }
                    self.name(name, isFirst: &isFirst)
                    try repeated(message.values[index], field)
                } else if let value = message.value(index) ?? (field.hasPresence ? nil : field.kind.initialValue) {
                    if !field.hasPresence && value.isInitial && format.unset == .omitted { continue }
                    self.name(name, isFirst: &isFirst)
                    try self.value(value, field.kind, field.typeName)
                } else if format.unset == .null, field.oneof == nil {
                    self.name(name, isFirst: &isFirst)
                    put("null")
                }
            } catch {
                throw JSONError(error.reason, field: error.field ?? field.name)
            }
        }
    }

    /// Writes the value of one field, without its name; `null` for an unset field with presence.
    mutating func field(_ field: FieldSchema, in bytes: [UInt8], of fullName: String) throws(JSONError) {
        let message = try decoded(bytes, of: fullName)
        guard let index = message.schema.index(ofNumber: field.number) else { throw JSONError(.unknownType) }
        if field.isRepeated {
            try repeated(message.values[index], field)
        } else if let value = message.value(index) ?? (field.hasPresence ? nil : field.kind.initialValue) {
            try self.value(value, field.kind, field.typeName)
        } else {
            put("null")
        }
    }

    private mutating func repeated(_ values: [WireValue], _ field: FieldSchema) throws(JSONError) {
        if field.isMap { try map(values, field) } else { try list(values, field) }
    }

    private mutating func list(_ values: [WireValue], _ field: FieldSchema) throws(JSONError) {
        put("[")
        for (index, value) in values.enumerated() {
            if index > 0 { put(",") }
            try self.value(value, field.kind, field.typeName)
        }
        put("]")
    }

    private mutating func map(_ entries: [WireValue], _ field: FieldSchema) throws(JSONError) {
        // A repeated key replaces the value and keeps its position.
        var places: [String: Int] = [:]
        var members: [(key: String, value: WireValue, field: FieldSchema)] = []
        for case .delimited(let bytes) in entries {
            let entry = try decoded(bytes, of: field.typeName)
            guard entry.schema.fields.count == 2 else { throw JSONError(.unknownType) }
            let (keyField, valueField) = (entry.schema.fields[0], entry.schema.fields[1])
            let key = try keyText(entry.value(0) ?? keyField.kind.initialValue, keyField.kind)
            let member = (key, entry.value(1) ?? valueField.kind.initialValue, valueField)
            if let place = places[key] {
                members[place] = member
            } else {
                places[key] = members.count
                members.append(member)
            }
        }
        put("{")
        var isFirst = true
        for (key, value, field) in members {
            name(key, isFirst: &isFirst)
            try self.value(value, field.kind, field.typeName)
        }
        put("}")
    }

    /// Returns a map key as a JSON string: numbers and Booleans are quoted.
    private func keyText(_ key: WireValue, _ kind: FieldSchema.Kind) throws(JSONError) -> String {
        switch (kind, key) {
        case (.string, .delimited(let bytes)): try text(bytes)
        case (.bool, .varint(let bits)): bits == 0 ? "false" : "true"
        default: JSONNumber.integerText(key, kind)
        }
    }

    private func text(_ bytes: [UInt8]) throws(JSONError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw JSONError(.invalidText) }
        return text
    }

    // MARK: Values

    private mutating func value(
        _ value: WireValue, _ kind: FieldSchema.Kind, _ typeName: String
    ) throws(JSONError) {
        switch (kind, value) {
        case (.message, .delimited(let bytes)): try message(bytes, of: typeName)
        case (.string, .delimited(let bytes)): quote(try text(bytes))
        case (.bytes, .delimited(let bytes)):
            put("\"")
            Base64.append(bytes, to: &output)
            put("\"")
        case (.bool, .varint(let bits)): put(bits == 0 ? "false" : "true")
        case (.double, .fixed64(let bits)): put(JSONNumber.text(Double(bitPattern: bits)))
        case (.float, .fixed32(let bits)): put(JSONNumber.text(Float(bitPattern: bits)))
        case (.enum, .varint(let bits)): enumValue(Int32(truncatingIfNeeded: bits), typeName)
        case (.int64, _), (.uint64, _), (.sint64, _), (.fixed64, _), (.sfixed64, _):
            // JavaScript's numbers cannot hold 64 bits, so these are strings.
            quote(JSONNumber.integerText(value, kind))
        default: put(JSONNumber.integerText(value, kind))
        }
    }

    private mutating func enumValue(_ number: Int32, _ typeName: String) {
        if typeName == WellKnownType.nullValue {
            put("null")
        } else if let name = schema.enums[typeName]?.name(of: number) {
            quote(name)
        } else {
            put("\(number)")
        }
    }

    // MARK: Text

    private mutating func put(_ text: String) {
        output += text.utf8
    }

    private mutating func name(_ name: String, isFirst: inout Bool) {
        if !isFirst { put(",") }
        isFirst = false
        quote(name)
        put(":")
    }

    private mutating func quote(_ text: String) {
        JSONText.quote(text, to: &output)
    }
}

// MARK: Well-known types

extension JSONMessageWriter {
    private mutating func wellKnown(_ type: WellKnownType, _ message: EncodedMessage) throws(JSONError) {
        switch type {
        case .any: try any(message)
        case .timestamp, .duration:
            guard case .varint(let seconds) = message.value(number: 1) ?? .varint(0),
                case .varint(let bits) = message.value(number: 2) ?? .varint(0)
            else { throw JSONError(.notRepresentable) }
            let form = type == .timestamp ? TimeText.timestamp : TimeText.duration
            guard let text = form(Int64(bitPattern: seconds), Int32(truncatingIfNeeded: bits)) else {
                throw JSONError(.notRepresentable)
            }
            quote(text)
        case .fieldMask:
            var paths: [String] = []
            for case .delimited(let bytes) in message.values.first ?? [] {
                guard let path = FieldMaskText.camel(try text(bytes)) else { throw JSONError(.notRepresentable) }
                paths.append(path)
            }
            quote(paths.joined(separator: ","))
        case .structure: try map(message.values[0], message.schema.fields[0])
        case .list: try list(message.values[0], message.schema.fields[0])
        case .value: try dynamicValue(message)
        case .boolValue, .bytesValue, .doubleValue, .floatValue, .int32Value, .int64Value, .stringValue, .uint32Value,
            .uint64Value:
            guard let kind = type.wrapped else { break }
            try value(message.value(number: 1) ?? kind.initialValue, kind, "")
        }
    }

    private mutating func dynamicValue(_ message: EncodedMessage) throws(JSONError) {
        for (index, field) in message.schema.fields.enumerated() {
            guard let value = message.value(index) else { continue }
            // A Value holds JSON values, which do not include NaN and infinity.
            if case .fixed64(let bits) = value, !Double(bitPattern: bits).isFinite { break }
            return try self.value(value, field.kind, field.typeName)
        }
        throw JSONError(.notRepresentable)
    }

    private mutating func any(_ message: EncodedMessage) throws(JSONError) {
        guard case .delimited(let urlBytes)? = message.value(number: 1) else {
            guard message.value(number: 2) == nil else { throw JSONError(.unknownType) }
            return put("{}")
        }
        guard case .delimited(let bytes) = message.value(number: 2) ?? .delimited([]) else { return }
        let url = try text(urlBytes)
        guard let name = WellKnownType.name(ofTypeURL: url) else { throw JSONError(.unknownType) }
        put("{\"@type\":")
        quote(url)
        if WellKnownType(rawValue: name) == nil {
            guard depthLeft > 0 else { throw JSONError(.tooDeep) }
            depthLeft -= 1
            var isFirst = false
            try members(of: try decoded(bytes, of: name), isFirst: &isFirst)
            depthLeft += 1
        } else {
            put(",\"value\":")
            try self.message(bytes, of: name)
        }
        put("}")
    }
}

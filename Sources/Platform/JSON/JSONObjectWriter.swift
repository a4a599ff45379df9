import Basics

/// Writes the members of a JSON object in sequence.
package struct JSONObjectWriter {
    /// Writes the elements of an array of objects.
    package struct Elements {
        fileprivate var output: [UInt8] = []

        package mutating func object(_ write: (inout JSONObjectWriter) -> Void) {
            var object = JSONObjectWriter()
            write(&object)
            if !output.isEmpty { output.append(UInt8(ascii: ",")) }
            output += object.finished
        }
    }

    private var output: [UInt8] = [UInt8(ascii: "{")]

    package init() {}

    package var finished: [UInt8] { output + [UInt8(ascii: "}")] }

    package mutating func text(_ name: String, _ value: String) {
        member(name)
        JSONText.quote(value, to: &output)
    }

    package mutating func number(_ name: String, _ value: Int) {
        member(name)
        output += "\(value)".utf8
    }

    package mutating func bool(_ name: String, _ value: Bool) {
        member(name)
        output += (value ? "true" : "false").utf8
    }

    /// - Parameter json: the value, complete and valid.
    package mutating func value(_ name: String, json: [UInt8]) {
        member(name)
        output += json
    }

    package mutating func texts(_ name: String, _ values: [String]) {
        member(name)
        output.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            JSONText.quote(value, to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    package mutating func object(_ name: String, _ write: (inout JSONObjectWriter) -> Void) {
        var object = JSONObjectWriter()
        write(&object)
        member(name)
        output += object.finished
    }

    package mutating func array(_ name: String, _ write: (inout Elements) -> Void) {
        var elements = Elements()
        write(&elements)
        member(name)
        output += [UInt8(ascii: "[")] + elements.output + [UInt8(ascii: "]")]
    }

    private mutating func member(_ name: String) {
        if output.count > 1 { output.append(UInt8(ascii: ",")) }
        JSONText.quote(name, to: &output)
        output.append(UInt8(ascii: ":"))
    }
}

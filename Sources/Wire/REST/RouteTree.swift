import Basics
package import Protobuf

/// Finds the routes whose path templates match a path, by its segments.
///
/// A literal takes precedence over `*`, and that over `**`, segment by segment from the left. If a template's verb matches the text
/// after the last segment's colon, templates without a verb do not match (google/api/http.proto, "Path template syntax").
package struct RouteTree: Sendable {
    /// The largest number of segments in a path.
    static let maximumSegments = 64

    private struct Leaf: Sendable {
        let verb: [UInt8]?
        let route: Int
    }

    private struct Node: Sendable {
        var literals: [(text: [UInt8], node: Int)] = []
        var single: Int?
        /// The templates that end here.
        var leaves: [Leaf] = []
        /// The templates that end here with `**`.
        var several: [Leaf] = []
    }

    private var nodes = [Node()]

    package init() {}

    /// - Parameter route: the number that ``routes(for:)`` returns for the template.
    package mutating func insert(_ template: RouteTemplate, route: Int) {
        let leaf = Leaf(verb: template.verb.map { Array($0.utf8) }, route: route)
        var node = 0
        for segment in template.segments {
            switch segment {
            case .literal(let text): node = child(of: node, Array(text.utf8))
            case .single: node = singleChild(of: node)
            case .several: return nodes[node].several.append(leaf)
            }
        }
        nodes[node].leaves.append(leaf)
    }

    private mutating func child(of node: Int, _ text: [UInt8]) -> Int {
        if let known = nodes[node].literals.first(where: { $0.text == text }) { return known.node }
        nodes.append(Node())
        nodes[node].literals.append((text, nodes.count - 1))
        return nodes.count - 1
    }

    private mutating func singleChild(of node: Int) -> Int {
        if let known = nodes[node].single { return known }
        nodes.append(Node())
        nodes[node].single = nodes.count - 1
        return nodes.count - 1
    }

    /// Returns the routes whose templates match, the most specific first; templates of different HTTP methods can be equal.
    package func routes(for path: RoutePath) -> [Int] {
        var found: [Int] = []
        if path.verbStart != nil { search(path, withVerb: true, 0, 0, &found) }
        // A template's verb is not part of a value: a client escapes the colon of a value.
        if found.isEmpty { search(path, withVerb: false, 0, 0, &found) }
        return found
    }

    private func search(_ path: RoutePath, withVerb: Bool, _ node: Int, _ index: Int, _ found: inout [Int]) {
        if index == path.segments.count {
            add(nodes[node].leaves, path, withVerb, &found)
        } else {
            let range = path.range(index, withoutVerb: withVerb)
            for child in nodes[node].literals.indices where path.has(nodes[node].literals[child].text, at: range) {
                search(path, withVerb: withVerb, nodes[node].literals[child].node, index + 1, &found)
            }
            if let single = nodes[node].single, !range.isEmpty {
                search(path, withVerb: withVerb, single, index + 1, &found)
            }
        }
        add(nodes[node].several, path, withVerb, &found)
    }

    private func add(_ leaves: [Leaf], _ path: RoutePath, _ withVerb: Bool, _ found: inout [Int]) {
        for leaf in leaves {
            switch (leaf.verb, withVerb) {
            case (nil, false): found.append(leaf.route)
            case (let verb?, true) where path.verb.elementsEqual(verb): found.append(leaf.route)
            default: break
            }
        }
    }
}

/// The path of a request, divided into segments.
package struct RoutePath: Sendable {
    private let bytes: [UInt8]
    fileprivate let segments: [Range<Int>]
    /// The offset of the colon in the last segment; `nil` = it has none.
    fileprivate let verbStart: Int?

    /// `nil` for a text that does not begin with a slash, or has too many segments.
    ///
    /// - Parameter path: the unchanged path, without the query.
    package init?(_ path: some Collection<UInt8>) {
        bytes = Array(path)
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        var segments: [Range<Int>] = []
        segments.reserveCapacity(8)
        var start = 1
        for index in 1...bytes.count where index == bytes.count || bytes[index] == UInt8(ascii: "/") {
            segments.append(start..<index)
            start = index + 1
        }
        guard segments.count <= RouteTree.maximumSegments, let last = segments.last else { return nil }
        self.segments = segments
        verbStart = bytes[last].lastIndex(of: UInt8(ascii: ":"))
    }

    fileprivate func range(_ index: Int, withoutVerb: Bool) -> Range<Int> {
        let range = segments[index]
        guard withoutVerb, index == segments.count - 1, let verbStart else { return range }
        return range.lowerBound..<verbStart
    }

    /// Whether a range of the path equals a text. Without the generic comparison of sequences, because a node has many children.
    fileprivate func has(_ text: [UInt8], at range: Range<Int>) -> Bool {
        guard text.count == range.count else { return false }
        var index = 0
        while index < text.count {
            if text[index] != bytes[range.lowerBound + index] { return false }
            index += 1
        }
        return true
    }

    fileprivate var verb: ArraySlice<UInt8> { verbStart.map { bytes[($0 + 1)...] } ?? [] }

    /// Returns the value of a template's variable in the path, which matches the template.
    ///
    /// Escapes in a single segment are decoded; in a value of several segments `%2F` is kept, so that it is not taken for a
    /// separator (google/api/http.proto, "Path template syntax").
    ///
    /// - Returns: `nil` if an escape is malformed.
    package func value(of variable: RouteTemplate.Variable, in template: RouteTemplate) -> [UInt8]? {
        let isOpen = template.segments[variable.segments].last == .several
        let end = isOpen ? segments.count : variable.segments.upperBound
        guard variable.segments.lowerBound < end else { return [] }
        let last = range(end - 1, withoutVerb: template.verb != nil)
        let text = bytes[segments[variable.segments.lowerBound].lowerBound..<last.upperBound]
        if variable.segments.count == 1, !isOpen {
            return text.contains(UInt8(ascii: "%")) ? PercentEscapes.decode(Array(text)) : Array(text)
        }
        return Self.decodeKeepingSlashes(text)
    }

    private static func decodeKeepingSlashes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(), let first = high.hexDigitValue,
                let second = low.hexDigitValue
            else { return nil }
            let value = first << 4 | second
            if value == UInt8(ascii: "/") { decoded += [byte, high, low] } else { decoded.append(value) }
        }
        return decoded
    }
}

/// A text with placeholders such as `{name}`, which values take the place of; `{{` and `}}` are braces.
package struct TextTemplate: Sendable, Hashable {
    /// Why a text is not a template: the rest of a sentence that begins with the text's name.
    package struct Problem: Error, Hashable, Sendable {
        package let predicate: String

        package init(predicate: String) { self.predicate = predicate }
    }

    private enum Piece: Sendable, Hashable {
        case text(String)
        case placeholder(String)
    }

    private let pieces: [Piece]
    /// The template with its placeholders.
    package let source: String

    package init(_ source: String) throws(Problem) {
        self.source = source
        var pieces: [Piece] = []
        var text = ""
        var rest = Substring(source)
        while let character = rest.popFirst() {
            if character == "{" || character == "}", rest.first == character {
                rest.removeFirst()
                text.append(character)
            } else if character == "{" {
                guard let end = rest.firstIndex(of: "}") else {
                    throw Problem(predicate: "has a { without }: '\(source)'; write {{ for a brace")
                }
                if !text.isEmpty { pieces.append(.text(text)) }
                text = ""
                pieces.append(.placeholder(String(rest[..<end])))
                rest = rest[rest.index(after: end)...]
            } else if character == "}" {
                throw Problem(predicate: "has a } without {: '\(source)'; write }} for a brace")
            } else {
                text.append(character)
            }
        }
        if !text.isEmpty { pieces.append(.text(text)) }
        self.pieces = pieces
    }

    /// The names between the braces, in their order.
    package var placeholders: [String] {
        pieces.compactMap { if case .placeholder(let name) = $0 { name } else { nil } }
    }

    /// - Parameter value: of a placeholder; `nil` = it has none.
    /// - Returns: `nil` where a placeholder has no value.
    package func text(_ value: (String) -> String?) -> String? {
        var result = ""
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .placeholder(let name):
                guard let text = value(name) else { return nil }
                result += text
            }
        }
        return result
    }
}

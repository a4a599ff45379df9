import Wire

/// A header or trailer section of a response.
package enum ResponseSection: Sendable {
    package typealias Fields = [(name: String, value: [UInt8])]

    /// - status: HTTP's; `nil` in a trailer section.
    case made(status: Int?, Fields)
    case permanent(PermanentSection)

    static func permanent(_ fields: [(name: String, value: String)], status: Int? = nil) -> ResponseSection {
        .permanent(PermanentSection(fields, status: status))
    }

    package var status: Int? {
        switch self {
        case .made(let status, _): status
        case .permanent(let section): section.status
        }
    }

    package var fields: Fields {
        switch self {
        case .made(_, let fields): fields
        case .permanent(let section): section.fields
        }
    }

    /// The section as HTTP/2 has it: the status is a field there (RFC 9113, section 8.3.2).
    var block: HeaderBlock {
        switch self {
        case .made(let status?, let fields): HeaderBlock([(":status", Array("\(status)".utf8))] + fields)
        case .made(nil, let fields): HeaderBlock(fields)
        case .permanent(let section): section.block
        }
    }

    static func fields(_ pairs: [(name: String, value: String)]) -> Fields {
        pairs.map { ($0.name, Array($0.value.utf8)) }
    }
}

/// A section that is sent again and again: made once, and never freed.
package final class PermanentSection: Sendable {
    fileprivate let status: Int?
    fileprivate let fields: ResponseSection.Fields
    fileprivate let block: HeaderBlock

    fileprivate init(_ fields: [(name: String, value: String)], status: Int?) {
        self.status = status
        self.fields = ResponseSection.fields(fields)
        block = HeaderBlock(permanent: (status.map { [(":status", "\($0)")] } ?? []) + fields)
    }
}

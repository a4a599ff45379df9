import ObjectFilters

/// The texts of an object that a filter has terms about: the others need not be read from the rows that are looked at.
struct FilterTexts: Sendable, Hashable {
    let hasID: Bool
    /// A name may follow from the device.
    let hasDevice: Bool
    let hasName: Bool
    let hasContentType: Bool

    init(_ filter: ObjectFilter) {
        hasID = filter.contains { if case .objectID = $0 { true } else { false } }
        hasDevice = filter.contains { term in
            switch term {
            case .device, .word, .name: true
            default: false
            }
        }
        hasName = filter.contains { term in
            switch term {
            case .name, .word: true
            default: false
            }
        }
        hasContentType = filter.contains { if case .contentType = $0 { true } else { false } }
    }
}

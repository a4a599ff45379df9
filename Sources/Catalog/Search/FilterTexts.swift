import ObjectFilters

/// The texts of an object that a filter's terms compare; other texts need not be read.
struct FilterTexts: Sendable, Hashable {
    let hasID: Bool
    /// Needed for names too, because a name may be derived from the device.
    let hasDevice: Bool
    let hasName: Bool
    let hasContentType: Bool
    let hasPath: Bool
    let hasRecordedTimes: Bool
    let hasTopics: Bool

    init(_ filter: ResolvedFilter) {
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
        hasPath = filter.contains { if case .path = $0 { true } else { false } }
        hasRecordedTimes = filter.contains { term in
            switch term {
            case .recordedFrom, .recordedTo: true
            default: false
            }
        }
        hasTopics = filter.contains { if case .topic = $0 { true } else { false } }
    }
}

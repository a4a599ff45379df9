import AppProto

/// The together tasks of a posted document that belong to a member's match.
///
/// The published app makes the tasks of a match itself, from a list of its own, as soon as it is told of the match. A task is
/// recognized by its name or, if the plan has other names than the app, by its position in a list of the same length.
struct PostedTasks {
    /// The posted tasks by the ordinals of those that are stored.
    private(set) var byOrdinal: [Int: TogetherTask] = [:]

    /// - Throws: a refusal if a task of the member's plan and partner cannot be recognized: to accept it without storing
    ///   it would lose its state.
    init(_ posted: [TogetherTask], of stored: [TaskRecord]) throws(CompanionResult) {
        guard let first = stored.first else { return }
        let partner = first.partnerEmail.lowercased()
        let own = posted.filter { $0.number == first.plan && $0.friendEmail.lowercased() == partner }
        let ordinals = Dictionary(stored.map { ($0.name, $0.ordinal) }) { first, _ in first }
        for task in own {
            guard let ordinal = ordinals[task.name], byOrdinal[ordinal] == nil else { continue }
            byOrdinal[ordinal] = task
        }
        for (position, task) in own.enumerated() where ordinals[task.name] == nil {
            guard own.count == stored.count, byOrdinal[stored[position].ordinal] == nil else {
                throw CompanionResult(
                    -1, "TogetherTasks must have the tasks of the plan: the name of task \(position + 1) is unknown")
            }
            byOrdinal[stored[position].ordinal] = task
        }
    }
}

import AppProto
import Basics

/// The intents of a member in a posted document.
///
/// The published app posts its whole copy of the member after each tap. What its owner may change is read from the differences
/// between this copy and what is stored; everything else in it (friends, partner, lists of tasks, notices, address, password) is
/// ignored. A value that violates a rule makes the whole document invalid.
struct ProfileChange: Sendable, Hashable {
    /// A member as stored.
    struct Stored: Sendable {
        var profile: MemberProfile
        var tasks: [TaskRecord] = []
        var privateTasks: [PrivateTaskRecord] = []
        /// The inbox, the oldest message first.
        var messages: [MessageRecord] = []
    }

    /// The new profile; `nil` = unchanged.
    private(set) var profile: MemberProfile?
    /// Tasks with another state or comment.
    private(set) var tasks: [TaskRecord] = []
    /// The new private tasks; `nil` = unchanged.
    private(set) var privateTasks: [PrivateTaskRecord]?
    /// The ids of messages that were read.
    private(set) var read: [Int64] = []
    /// The ids of messages that were removed from the inbox.
    private(set) var cleared: [Int64] = []
    /// New messages to the operators.
    private(set) var feedback: [String] = []

    var isEmpty: Bool { self == ProfileChange() }

    private init() {}

    /// - Parameter now: the time before which a birthday has to be.
    init(from stored: Stored, to posted: Companion, at now: UnixTime) throws(CompanionResult) {
        try readProfile(stored.profile, posted, at: now)
        try readTasks(stored.tasks, posted.togetherTasks)
        try readPrivateTasks(stored.privateTasks, posted.privateTasks)
        try readMessages(stored.messages, posted.messages)
    }

    /// A field that is absent, or as it is stored, is not checked.
    private mutating func readProfile(
        _ stored: MemberProfile, _ posted: Companion, at now: UnixTime
    ) throws(CompanionResult) {
        var changed = stored
        func take(
            _ text: String?, _ field: WritableKeyPath<MemberProfile, String>,
            _ check: (String) throws(CompanionResult) -> Void
        ) throws(CompanionResult) {
            guard let text, text != stored[keyPath: field] else { return }
            try check(text)
            changed[keyPath: field] = text
        }
        try take(posted.username, \.username, CompanionFields.username)
        try take(posted.mobile, \.mobile, CompanionFields.mobile)
        try take(posted.age, \.age, CompanionFields.age)
        try take(posted.bio, \.bio) { text throws(CompanionResult) in try CompanionFields.text(text, "bio", atMost: 500)
        }
        try take(posted.constellation, \.constellation) { text throws(CompanionResult) in
            try CompanionFields.text(text, "constellation", atMost: 32)
        }
        try take(posted.blood, \.blood, CompanionFields.blood)
        try take(posted.birthday, \.birthday) { text throws(CompanionResult) in
            try CompanionFields.birthday(text, at: now)
        }
        try take(posted.sex, \.sex, CompanionFields.sex)
        if changed != stored { profile = changed }
    }

    /// Reads the tasks of the member's plan and partner. Tasks of others, such as those of an earlier match, are ignored.
    private mutating func readTasks(_ stored: [TaskRecord], _ posted: [TogetherTask]) throws(CompanionResult) {
        try CompanionFields.list(posted.count, "TogetherTasks")
        let recognized = try PostedTasks(posted, of: stored).byOrdinal
        for task in stored {
            guard let found = recognized[task.ordinal],
                found.isFinished != task.isFinished || found.comment != task.comment
            else { continue }
            if found.comment != task.comment {
                try CompanionFields.text(found.comment, "comment", atMost: CompanionFields.longestTaskText)
            }
            var changed = task
            (changed.isFinished, changed.comment) = (found.isFinished, found.comment)
            tasks.append(changed)
        }
    }

    private mutating func readPrivateTasks(
        _ stored: [PrivateTaskRecord], _ posted: [PrivateTask]
    ) throws(CompanionResult) {
        try CompanionFields.list(posted.count, "PrivateTasks")
        let changed = posted.map { PrivateTaskRecord(name: $0.name, number: $0.number, isFinished: $0.isFinished) }
        guard changed != stored else { return }
        for task in changed {
            try CompanionFields.text(task.name, "PrivateTasks.name", atMost: CompanionFields.longestTaskText)
        }
        privateTasks = changed
    }

    /// A message as documents tell it from others: by its bytes. To compare each posted text with each stored one, as texts of Unicode,
    /// would take a minute for texts that were written for it.
    private struct MessageKey: Hashable {
        let body: [UInt8]
        let isUser: Bool

        init(_ body: String, isUser: Bool) {
            self.body = Array(body.utf8)
            self.isUser = isUser
        }
    }

    /// Messages have no ids in the document: equal ones are the same in their order. A message that the member's phone has never
    /// received is not cleared by its absence.
    private mutating func readMessages(_ stored: [MessageRecord], _ posted: [CompanionMessage]) throws(CompanionResult)
    {
        try CompanionFields.list(posted.count, "Messages", atMost: CompanionFields.mostMessages)
        var left = Dictionary(grouping: stored.reversed()) { MessageKey($0.body, isUser: $0.isUser) }
        for message in posted {
            if let known = left[MessageKey(message.msg, isUser: message.isUser)]?.popLast() {
                if message.isRead, !known.isRead { read.append(known.id) }
            } else if message.isUser, !message.msg.isEmpty {
                try CompanionFields.text(message.msg, "msg", atMost: CompanionFields.longestFeedback)
                feedback.append(message.msg)
            }
        }
        cleared = left.values.joined().filter(\.isDelivered).map(\.id).sorted()
    }
}

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

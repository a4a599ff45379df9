import AppProto
import Basics
import TestSupport
import Testing

@testable import Companions

/// The difference between a posted document and what is stored.
@Suite(.timeLimited) struct ProfileChangeTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    private var stored = ProfileChange.Stored(
        profile: MemberProfile(
            userID: 1, email: "ada@example.com", username: "Ada Lovelace", age: "36", createdAt: now),
        tasks: [
            TaskRecord(
                matchID: 7, ordinal: 0, name: "Walk", plan: 1, partnerID: 2, partnerEmail: "Bob@example.com",
                isFinished: false, comment: ""),
            TaskRecord(
                matchID: 7, ordinal: 1, name: "Run", plan: 1, partnerID: 2, partnerEmail: "Bob@example.com",
                isFinished: true, comment: "Wet"),
        ], privateTasks: [PrivateTaskRecord(name: "Milk", number: 0, isFinished: false)],
        messages: [
            message(1, "Hello"), message(2, "Hello", isRead: true), message(3, "Help", isUser: true),
            message(4, "News", isDelivered: false),
        ])

    private static func message(
        _ id: Int64, _ body: String, isUser: Bool = false, isDelivered: Bool = true, isRead: Bool = false
    ) -> MessageRecord {
        MessageRecord(id: id, isUser: isUser, body: body, sentAt: now, isDelivered: isDelivered, isRead: isRead)
    }

    /// The document as a phone has it, without the message that it has not received.
    private var document: Companion {
        Companion(
            username: "Ada Lovelace", email: "ada@example.com", mobile: "", password: "a credential", age: "36",
            bio: "",
            constellation: "", blood: "", birthday: "", sex: "", imgPath: "/img/default.png",
            togetherTasks: [
                TogetherTask(name: "Walk", number: 1, comment: "", friendEmail: "bob@example.com", isFinished: false),
                TogetherTask(name: "Run", number: 1, comment: "Wet", friendEmail: "bob@example.com", isFinished: true),
            ], privateTasks: [PrivateTask(name: "Milk", number: 0, isFinished: false)], friends: ["bob@example.com"],
            messages: [
                CompanionMessage(msg: "Hello", isUser: false, isRead: false),
                CompanionMessage(msg: "Hello", isUser: false, isRead: true),
                CompanionMessage(msg: "Help", isUser: true, isRead: false),
            ], partner: "bob@example.com", currentTaskID: 0)
    }

    private func change(_ edit: (inout Companion) -> Void) throws -> ProfileChange {
        var posted = document
        edit(&posted)
        return try ProfileChange(from: stored, to: posted, at: Self.now)
    }

    @Test func documentAsStoredChangesNothing() throws {
        #expect(try change { _ in }.isEmpty)
    }

    @Test func valuesOfOthersAreIgnored() throws {
        let change = try change { posted in
            posted.email = "eve@example.com"
            posted.password = "114514"
            posted.friends = ["eve@example.com"]
            posted.partner = "eve@example.com"
            posted.currentTaskID = 3
            posted.imgPath = "/img/../../etc/passwd"
            posted.togetherTasks += [
                TogetherTask(name: "Walk", number: 2, comment: "x", friendEmail: "bob@example.com", isFinished: true),
                TogetherTask(name: "Walk", number: 1, comment: "x", friendEmail: "eve@example.com", isFinished: true),
            ]
            posted.messages.append(CompanionMessage(msg: "From the system", isUser: false, isRead: true))
        }
        #expect(change.isEmpty)
    }

    @Test func absentValuesAreUnchanged() throws {
        let change = try change { posted in
            posted.username = nil
            posted.age = nil
            posted.blood = nil
            posted.togetherTasks = []
        }
        #expect(change.isEmpty)
    }

    @Test func profileIsChangedOrNothingIs() throws {
        let change = try change { posted in
            posted.age = ""
            posted.blood = "AB"
        }
        #expect(
            change.profile?.age == "" && change.profile?.blood == "AB" && change.profile?.username == "Ada Lovelace")
        #expect(throws: CompanionResult(-1, "sex must be male or female")) {
            try self.change { posted in
                posted.age = "37"
                posted.sex = "unknown"
            }
        }
    }

    @Test func tickAndCommentAreOfTheNamedTask() throws {
        let change = try change { posted in
            posted.togetherTasks[0].isFinished = true
            posted.togetherTasks[1].comment = "Dry"
        }
        #expect(change.tasks.map(\.ordinal) == [0, 1])
        #expect(change.tasks.map(\.isFinished) == [true, true] && change.tasks.map(\.comment) == ["", "Dry"])
    }

    /// The app's own list of tasks has other names than the plan.
    @Test func tasksWithOtherNamesAreRecognizedByTheirPositions() throws {
        let change = try change { posted in
            (posted.togetherTasks[0].name, posted.togetherTasks[1].name) = ("Leg bent", "Stretch")
            posted.togetherTasks[0].isFinished = true
            posted.togetherTasks[1].comment = "Dry"
            posted.togetherTasks.insert(
                TogetherTask(name: "Fly", number: 2, comment: "x", friendEmail: "bob@example.com", isFinished: true),
                at: 0)
        }
        #expect(change.tasks.map(\.ordinal) == [0, 1])
        #expect(change.tasks.map(\.isFinished) == [true, true] && change.tasks.map(\.comment) == ["", "Dry"])
    }

    @Test func unknownTasksOfTheMatchAreRefused() {
        let edits: [(inout [TogetherTask]) -> Void] = [
            {
                $0[1].name = "Fly"; $0.append($0[0])
            },
            {
                $0[0].name = "Fly"; $0.remove(at: 1)
            },
            {
                $0.reverse(); $0[0].name = "Fly"
            },
        ]
        for edit in edits {
            #expect {
                try change { edit(&$0.togetherTasks) }
            } throws: { error in
                (error as? CompanionResult)?.message.contains("is unknown") == true
            }
        }
    }

    @Test func readAndRemovedMessagesAreRecognized() throws {
        let change = try change { posted in
            posted.messages[0].isRead = true
            posted.messages.remove(at: 2)
        }
        #expect(change.read == [1] && change.cleared == [3])
    }

    @Test func messageThatNeverArrivedSurvivesClearing() throws {
        #expect(try change { $0.messages = [] }.cleared == [1, 2, 3])
    }

    /// Texts that are equal only as texts of Unicode are different messages: comparing all of them so would take too long.
    @Test func messagesAreToldApartByTheirBytes() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        var stored = stored
        stored.messages = [Self.message(1, composed, isUser: true)]
        var posted = document
        posted.messages = [CompanionMessage(msg: decomposed, isUser: true, isRead: false)]
        let change = try ProfileChange(from: stored, to: posted, at: Self.now)
        #expect(change.cleared == [1])
        #expect(change.feedback.map { Array($0.utf8) } == [Array(decomposed.utf8)])
    }

    @Test func feedbackIsNewOnce() throws {
        let more = CompanionMessage(msg: "Help", isUser: true, isRead: true)
        let change = try change { $0.messages += [more, CompanionMessage(msg: "", isUser: true, isRead: true)] }
        #expect(change.feedback == ["Help"] && change.cleared == [])
    }

    @Test func longListsAndTextsAreRefused() {
        let edits: [(String, (inout Companion) -> Void)] = [
            ("PrivateTasks", { $0.privateTasks = .init(repeating: PrivateTask(name: "x"), count: 201) }),
            ("TogetherTasks", { $0.togetherTasks = .init(repeating: TogetherTask(name: "x"), count: 201) }),
            ("Messages", { $0.messages = .init(repeating: CompanionMessage(msg: "x"), count: 401) }),
            ("comment", { $0.togetherTasks[0].comment = .init(repeating: "x", count: 1001) }),
            ("msg", { $0.messages.append(CompanionMessage(msg: .init(repeating: "x", count: 4001), isUser: true)) }),
            ("bio", { $0.bio = "\u{0}" }),
            ("PrivateTasks.name", { $0.privateTasks[0].name = "\u{1B}[2J" }),
        ]
        for (field, edit) in edits {
            #expect {
                try change(edit)
            } throws: { error in
                (error as? CompanionResult)?.message.hasPrefix("\(field) ") == true
            }
        }
    }
}

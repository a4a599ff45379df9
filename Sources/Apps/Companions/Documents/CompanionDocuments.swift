import AppProto
import Basics
import Database

/// The data of members as phones have it.
struct CompanionDocuments: Sendable {
    /// The code of a response with a member's data: the code of a sign-in that succeeded.
    private static let success: Int32 = 1
    /// The text in place of a friend's password.
    private static let mask = "*********"

    let database: Database
    let clock: any WallClock
    let matching: Matching
    let limits: CompanionLimits

    /// Returns what is stored about a member, for a change or for the member.
    private static func stored(_ userID: Int64, in connection: ReadConnection) throws -> ProfileChange.Stored {
        guard let profile = try MemberProfileRecords(connection).find(userID) else {
            throw CompanionResult.unknownAddress
        }
        return ProfileChange.Stored(
            profile: profile, tasks: try TaskRecords(connection).all(of: userID),
            privateTasks: try TaskRecords(connection).privateTasks(of: userID),
            messages: try MessageRecords(connection).inbox(of: userID).rows)
    }

    /// Returns a member's own data, and notes that the member has received the messages.
    ///
    /// - Parameter credential: the credential of the member's session; empty = none.
    func own(_ userID: Int64, credential: String) async throws -> Companion {
        try await receive(userID)
        return try await database.read { try Self.message(userID, credential: credential, in: $0) }
    }

    static func message(_ userID: Int64, credential: String, in connection: ReadConnection) throws -> Companion {
        let stored = try stored(userID, in: connection)
        let matches = MatchRecords(connection)
        let side = try matches.side(of: userID)
        let partner = try side.flatMap { try MemberProfileRecords(connection).find($0.partnerID) }
        let untold = side.flatMap { $0.wasReported ? nil : $0.plan }
        var message = profile(stored.profile)
        message.password = credential
        message.mobile = stored.profile.mobile
        message.blood = stored.profile.blood
        message.togetherTasks = stored.tasks.map { $0.message(friend: $0.partnerEmail) }
        message.privateTasks = stored.privateTasks.map {
            PrivateTask(name: $0.name, number: $0.number, isFinished: $0.isFinished)
        }
        message.friends = try FriendRecords(connection).emails(of: userID)
        // Messages that were not noted as delivered are for the next time, so that each can be removed by its absence.
        message.messages = stored.messages.filter(\.isDelivered).map {
            CompanionMessage(msg: $0.body, isUser: $0.isUser, isRead: $0.isRead)
        }
        message.partner = partner?.email ?? ""
        message.currentTaskID = try untold ?? matches.waits(userID) ?? 0
        return message
    }

    /// Returns what a member shows to a friend or a partner.
    func friend(_ friendID: Int64, for userID: Int64) async throws -> Companion {
        try await database.read { connection in
            let friends = FriendRecords(connection)
            let side = try MatchRecords(connection).side(of: userID)
            let isKnown = try friends.areFriends(userID, friendID) || side?.partnerID == friendID
            guard isKnown || friendID == userID, try !friends.isBlocked(userID, friendID),
                let stored = try MemberProfileRecords(connection).find(friendID),
                let own = try MemberProfileRecords(connection).find(userID)
            else { throw CompanionResult.unknownAddress }
            var message = Self.profile(stored)
            message.password = Self.mask
            message.mobile = stored.sharesMobile ? stored.mobile : ""
            message.togetherTasks = try TaskRecords(connection).all(of: friendID)
                .filter { $0.partnerID == userID }.map { $0.message(friend: own.email) }
            return message
        }
    }

    /// Returns the fields that friends see as well; all others have their initial values.
    private static func profile(_ profile: MemberProfile) -> Companion {
        Companion(
            username: profile.username, email: profile.email, mobile: "", password: "", age: profile.age,
            bio: profile.bio, constellation: profile.constellation, blood: "", birthday: profile.birthday,
            sex: profile.sex, imgPath: MemberPictures.path(profile.picture), partner: "", currentTaskID: 0,
            code: success, msg: "Success")
    }

    /// Adds announcements to a member's inbox.
    ///
    /// - Parameter isReceived: whether the member receives the whole inbox now.
    func receive(_ userID: Int64, isReceived: Bool = true) async throws {
        let hasNews = try await database.read { connection in
            guard let profile = try MemberProfileRecords(connection).find(userID) else {
                throw CompanionResult.unknownAddress
            }
            let messages = MessageRecords(connection)
            return try messages.lastAnnouncement() > profile.announced
                || isReceived && messages.hasUndelivered(userID)
        }
        // A write would commit although it changes nothing.
        guard hasNews else { return }
        let now = clock.now()
        try await database.write { connection in
            let messages = MessageRecords(connection)
            guard var profile = try MemberProfileRecords(connection).find(userID) else {
                throw CompanionResult.unknownAddress
            }
            for announcement in try messages.announcements(after: profile.announced) {
                try messages.insert(announcement.body, to: userID, at: announcement.sentAt)
                profile.announced = announcement.id
            }
            try MemberProfileRecords(connection).update(profile)
            if isReceived { try messages.markDelivered(of: userID, at: now) }
        }
    }

    /// Does what a member wants by a posted document.
    func change(_ userID: Int64, to posted: Companion) async throws {
        let now = clock.now()
        let intents = try await database.read { connection in
            try ProfileChange(from: Self.stored(userID, in: connection), to: posted, at: now)
        }
        guard !intents.isEmpty else { return }
        for _ in intents.feedback { try limits.countFeedback(userID) }
        try await database.write { [matching] connection in
            // Compared again, since what is stored may have changed.
            let change = try ProfileChange(from: Self.stored(userID, in: connection), to: posted, at: now)
            if let profile = change.profile { try MemberProfileRecords(connection).update(profile) }
            for task in change.tasks { try TaskRecords(connection).update(task, of: userID, at: now) }
            if let tasks = change.privateTasks {
                try TaskRecords(connection).replacePrivateTasks(of: userID, tasks)
            }
            let messages = MessageRecords(connection)
            try messages.markRead(change.read, of: userID, at: now)
            try messages.clear(change.cleared, of: userID, at: now)
            for text in change.feedback { try messages.insertFeedback(text, of: userID, at: now) }
            if !change.feedback.isEmpty { connection.afterCommit { matching.news.notify() } }
            if !change.tasks.isEmpty, let side = try MatchRecords(connection).side(of: userID),
                try !TaskRecords(connection).hasUnfinished(matchID: side.matchID)
            {
                try matching.end(of: userID, for: .completed, at: now, in: connection)
            }
        }
    }
}

extension TaskRecord {
    fileprivate func message(friend: String) -> TogetherTask {
        TogetherTask(name: name, number: plan, comment: comment, friendEmail: friend, isFinished: isFinished)
    }
}

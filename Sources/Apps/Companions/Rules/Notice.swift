/// The texts of messages from the app to its members.
enum Notice {
    static func waiting(_ plan: String) -> String {
        "We are looking for a companion for \"\(plan)\". You will get a message when we have found one."
    }

    static func stoppedWaiting(_ plan: String) -> String {
        "We have not found a companion for \"\(plan)\" in 30 days and have stopped looking. You can start again at any time."
    }

    static func matched(_ plan: String, with partner: MemberProfile) -> String {
        "You have a companion for \"\(plan)\": \(partner.username), \(partner.email). You are friends now. Good luck to both of you!"
    }

    /// - Parameter isOwn: whether the message is for the member who has ended the match.
    static func ended(_ plan: String, for reason: Matching.End, isOwn: Bool) -> String {
        switch (reason, isOwn) {
        case (.completed, _): "You have both finished \"\(plan)\". Congratulations! You can start another plan."
        case (.left, true): "You have left \"\(plan)\". You can start another plan."
        case (.left, false): "Your companion has left \"\(plan)\". You can start another plan."
        case (.accountDeleted, _):
            "The account of your companion was deleted, so \"\(plan)\" has ended. You can start another plan."
        }
    }
}
